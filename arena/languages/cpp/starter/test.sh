# Asks the bot for one move: from this hand, it must play the squid nigiri.
asked='{"game":0,"position":{"round":1,"turn":1},"hand":["CARD_TEMPURA","CARD_SQUID_NIGIRI"],"nonce":7}'
answer=$(echo '{"events":[{"turnRequest":'"$asked"'}]}' | ./bot | tail -n 1)
case $answer in
*'"cards":["CARD_SQUID_NIGIRI"]'*) echo "ok" ;;
*)
    echo "wrong: $answer"
    exit 1
    ;;
esac
