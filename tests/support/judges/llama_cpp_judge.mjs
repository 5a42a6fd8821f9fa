// What llama.cpp's own parser makes of grammars. Reads [{grammar, texts}] and writes for each whether each text is
// in its language, or the error as a text. Usage: node llama_cpp_judge.mjs FOLDER, which has node_modules.
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const asked = JSON.parse(readFileSync(0, "utf8")); // first: the package makes this stream one that does not wait
const home = join(process.argv[2], "node_modules/node-llama-cpp/dist/index.js");
const {getLlama, LlamaGrammar} = await import(pathToFileURL(home).href);
const llama = await getLlama({gpu: false, build: "never", skipDownload: true, progressLogs: false, logLevel: "disabled"});
const found = asked.map(({grammar, texts}) => {
    try {
        const read = new LlamaGrammar(llama, {grammar});
        return texts.map((text) => read._testText(text));
    } catch (fault) {
        return String(fault);
    }
});
process.stdout.write(JSON.stringify(found), () => process.exit(0));
