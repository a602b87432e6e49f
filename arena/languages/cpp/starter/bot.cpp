// NAME, a Sushi Go! bot. It reads and writes lines of JSON; `arena bridge` connects it to the arena.

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using nlohmann::json;

const std::vector<std::string> WANTED = {"CARD_SQUID_NIGIRI", "CARD_SALMON_NIGIRI", "CARD_MAKI_3",
                                         "CARD_DUMPLING", "CARD_TEMPURA"};

// Returns the card to play. The arena's docs/messages.md describes the request, a TurnRequest.
std::string choose(const json& request) {
    const auto hand = request["hand"].get<std::vector<std::string>>();
    for (const auto& card : WANTED) {
        if (std::find(hand.begin(), hand.end(), card) != hand.end()) return card;
    }
    return hand.front();
}

json answer(const json& request) {
    const json& now = request["position"];
    return {{"game", request["game"]},
            {"round", now["round"]},
            {"turn", now["turn"]},
            {"cards", json::array({choose(request)})},
            {"nonce", request["nonce"]}};
}

// Writes one message. std::endl flushes the buffer; otherwise, the message would stay there, and the arena
// would wait for it.
void say(const std::string& kind, const json& content) {
    json message;
    message[kind] = content;
    std::cout << message << std::endl;
}

int main() {
    say("hello", {{"protocol", 1}, {"sdk", "NAME"}, {"gamesAtOnce", 32}});
    for (std::string line; std::getline(std::cin, line);) {
        json moves = json::array();
        const json message = json::parse(line);
        for (const auto& event : message["events"]) {
            if (event.contains("turnRequest")) moves.push_back(answer(event["turnRequest"]));
        }
        if (!moves.empty()) say("moves", moves);
    }
}
