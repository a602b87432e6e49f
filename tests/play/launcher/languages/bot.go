// A bot that speaks the bridge's lines of JSON. Each turn is chosen in a goroutine of its own.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
)

type request struct {
	Game     int
	Position struct{ Round, Turn int }
	Hand     []string
	Nonce    uint32
}

type message struct {
	Events []struct{ TurnRequest *request }
}

type move struct {
	Game  int      `json:"game"`
	Round int      `json:"round"`
	Turn  int      `json:"turn"`
	Cards []string `json:"cards"`
	Nonce uint32   `json:"nonce"`
}

func choose(asked request, answers chan<- move) {
	best := asked.Hand[0]
	for _, card := range asked.Hand {
		if card > best {
			best = card
		}
	}
	answers <- move{asked.Game, asked.Position.Round, asked.Position.Turn, []string{best}, asked.Nonce}
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]any{"hello": map[string]any{"protocol": 1, "sdk": "go", "gamesAtOnce": 32}})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var heard message
		if err := json.Unmarshal(lines.Bytes(), &heard); err != nil {
			panic(err)
		}
		answers, moves := make(chan move), []move{}
		count := 0
		for _, event := range heard.Events {
			if event.TurnRequest != nil {
				count++
				go choose(*event.TurnRequest, answers)
			}
		}
		for ; count > 0; count-- {
			moves = append(moves, <-answers)
		}
		if len(moves) > 0 {
			out.Encode(map[string]any{"moves": moves})
			runtime.GC()
		}
	}
}
