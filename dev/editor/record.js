// Drives the language server with Microsoft's client of the protocol, and records the session as
// JSON on standard output: who said what, in order. SDCRISK_FOLDER is the folder of the script.
//   npm install vscode-languageserver-protocol@3.18.5
//   node record.js > ../../tests/testthat/session.json
const { spawn } = require("child_process");
const { mkdtempSync, writeFileSync } = require("fs");
const { tmpdir } = require("os");
const { join } = require("path");
const { pathToFileURL } = require("url");
const {
  createProtocolConnection, StreamMessageReader, StreamMessageWriter, InitializeRequest,
  InitializedNotification, DidOpenTextDocumentNotification, DidChangeTextDocumentNotification,
  DidSaveTextDocumentNotification, DidCloseTextDocumentNotification, CodeLensRequest,
  CodeLensRefreshRequest, HoverRequest, CodeActionRequest, ExecuteCommandRequest,
  PublishDiagnosticsNotification, ShutdownRequest, ExitNotification, CancellationTokenSource,
  CodeActionKind,
} = require("vscode-languageserver-protocol/node");

const folder = mkdtempSync(join(tmpdir(), "script-"));
const uri = pathToFileURL(join(folder, "release.R")).href;
const document = { uri };
const lines = [
  "library(sdcRisk)",
  "keys <- c(\"CENREG\", \"DAGE3\", \"EDUC3\", \"GENDER\")",
  "people <- sdc_file(nals_prison[c(keys, \"SCORE\")], all_of(keys))",
  "x <- 'é😀'; write.csv(people, \"a.csv\")",
];

const server = spawn("Rscript", ["-e", "sdcRisk::language_server()"]);
const ended = new Promise((done) => server.on("exit", done));
const session = [];
const reader = new StreamMessageReader(server.stdout);
const writer = new StreamMessageWriter(server.stdin);
const listen = reader.listen.bind(reader);
reader.listen = (callback) => listen((message) => {
  session.push({ from: "server", message });
  callback(message);
});
const write = writer.write.bind(writer);
writer.write = (message) => {
  session.push({ from: "client", message });
  return write(message);
};
const connection = createProtocolConnection(reader, writer);

const findings = [];
let awaited = null;
connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
  findings.push(params.diagnostics);
  if (awaited) awaited();
});
connection.onRequest(CodeLensRefreshRequest.type, () => null);
async function nextFindings() {
  if (!findings.length) await new Promise((done) => { awaited = done; });
  awaited = null;
  return findings.shift();
}

function apply(text, edit) {
  const at = edit.range.start;
  const rows = text.split("\n");
  const row = rows[at.line];
  rows[at.line] = row.slice(0, at.character) + edit.newText + row.slice(edit.range.end.character);
  return rows.join("\n");
}

async function main() {
  connection.listen();
  await connection.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri: null,
    workspaceFolders: null,
    clientInfo: { name: "vscode-languageserver-protocol", version: "3.18.5" },
    initializationOptions: { runOnSave: true },
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      workspace: { codeLens: { refreshSupport: true }, applyEdit: true },
      textDocument: {
        publishDiagnostics: { relatedInformation: true, codeDescriptionSupport: true },
        hover: { contentFormat: ["markdown", "plaintext"] },
        codeAction: {
          codeActionLiteralSupport: { codeActionKind: { valueSet: [CodeActionKind.QuickFix] } },
        },
      },
    },
  });
  await connection.sendNotification(InitializedNotification.type, {});
  let text = lines.join("\n");
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "r", version: 1, text },
  });
  writeFileSync(join(folder, "release.R"), text);
  await connection.sendNotification(DidSaveTextDocumentNotification.type, {
    textDocument: document,
  });
  const [finding] = await nextFindings();
  await connection.sendRequest(CodeLensRequest.type, { textDocument: document });
  await connection.sendRequest(HoverRequest.type, {
    textDocument: document, position: { line: 3, character: 24 },
  });
  const [action] = await connection.sendRequest(CodeActionRequest.type, {
    textDocument: document, range: finding.range,
    context: { diagnostics: [finding], only: [CodeActionKind.QuickFix] },
  });
  text = apply(text, action.edit.changes[uri][0]);
  await connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 }, contentChanges: [{ text }],
  });
  await nextFindings();
  await connection.sendNotification(DidSaveTextDocumentNotification.type, {
    textDocument: document,
  });
  await nextFindings();
  const stop = new CancellationTokenSource();
  const run = connection.sendRequest(ExecuteCommandRequest.type, {
    command: "sdcRisk.checkScript", arguments: [uri],
  }, stop.token);
  stop.cancel();
  await run.catch(() => null);
  await connection.sendRequest(ExecuteCommandRequest.type, {
    command: "sdcRisk.checkScript", arguments: [uri],
  });
  await connection.sendNotification(DidCloseTextDocumentNotification.type, {
    textDocument: document,
  });
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  session.push({ from: "server", status: await ended });
  const recorded = `[\n${session.map((said) => JSON.stringify(said)).join(",\n")}\n]\n`;
  process.stdout.write(recorded.split(pathToFileURL(folder).href).join("SDCRISK_FOLDER"));
}

main().catch((problem) => { console.error(problem); server.kill(); process.exit(1); });
