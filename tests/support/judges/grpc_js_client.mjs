// A client of @grpc/grpc-js: node grpc_js_client.mjs FOLDER PROTO ADDRESS KEY, questions on stdin, answers on stdout.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, proto, address, key] = process.argv.slice(2);
const require = createRequire(join(folder, "package.json"));
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");
const known = grpc.loadPackageDefinition(
  loader.loadSync(proto, { keepCase: true, longs: String, enums: String, oneofs: true, defaults: true }),
);
const { service, calls } = JSON.parse(readFileSync(0, "utf-8"));
const [inside, name] = service.split(".");
const client = new known[inside][name](address, grpc.credentials.createInsecure());
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${key}`);

function failed(error) {
  const details = error.metadata?.get("grpc-status-details-bin")?.[0];
  return { code: error.code, details: error.details, bytes: details ? details.length : 0 };
}

function unary(method, request) {
  return new Promise((done) =>
    client[method](request, metadata, (error, reply) => done(error ? failed(error) : reply)),
  );
}

function events(method, request) {
  return new Promise((done) => {
    const found = [];
    const stream = client[method](request, metadata);
    stream.on("data", (event) => found.push(event.event));
    stream.on("end", () => done(found));
    stream.on("error", (error) => done(failed(error)));
  });
}

const answers = [];
for (const { method, request } of calls) {
  answers.push(await (method.endsWith("Events") ? events(method, request) : unary(method, request)));
}
console.log(JSON.stringify(answers));
client.close();
