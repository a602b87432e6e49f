// An editor for bots: CodeMirror in the site's colours, with highlighting for Python and JavaScript.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const LANGUAGES = { python, javascript };
const INDENTS = { python: "    ", javascript: "  " };

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--sheet)", fontSize: ".9rem" },
  "&.cm-focused": { outline: "2px solid var(--vermilion)" },
  ".cm-scroller": { fontFamily: "ui-monospace, monospace", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--sheet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--faint)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--wood)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--wood)" },
});

const colours = HighlightStyle.define([
  { tag: [tags.comment, tags.docString], color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], color: "var(--vermilion)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className], fontWeight: "600" },
]);

// Puts an editor into an element and returns it: read `text`, `show` another text and language, or `go` to a line. It
// is in a shadow root, whose style sheets are constructed, which the site's content security policy allows.
export function edit(element, { label, description, change }) {
  const root = element.attachShadow({ mode: "open" });
  const view = new EditorView({ parent: root, root });
  const show = (text, language) =>
    view.setState(
      EditorState.create({
        doc: text,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          indentUnit.of(INDENTS[language] ?? "    "),
          LANGUAGES[language]?.() ?? [],
          look,
          syntaxHighlighting(colours),
          EditorView.contentAttributes.of({ "aria-label": label, "aria-description": description, tabindex: "0" }),
          EditorView.updateListener.of((update) => update.docChanged && change(update.state.doc.toString())),
          keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
        ],
      }),
    );
  const go = (number) => {
    const { from } = view.state.doc.line(Math.min(number, view.state.doc.lines));
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    view.focus();
  };
  return { show, go, focus: () => view.focus(), get text() { return view.state.doc.toString(); } };
}
