import Foundation

// Measures synchronization beside saving, copying and an upsert written by hand, and prints tables in Markdown:
//
//   SyncBenchmarks [--items 100000] [--changes 10000] [--rounds 3] [--identified-by value|creation]
//
// With a step, it does only that, in a folder that remains, so that a profiler sees nothing else:
//
//   SyncBenchmarks --folder FOLDER --step fill|begin|arrive|change|send|apply [--spread apart]

let usage = "SyncBenchmarks [--items N] [--changes N] [--rounds N] [--identified-by K] [--folder FOLDER --step S]\n"
var options: [String: String] = [:]
var arguments = CommandLine.arguments.dropFirst()
while let name = arguments.popFirst() {
  guard name.hasPrefix("--"), let value = arguments.popFirst() else {
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
  }
  options[String(name.dropFirst(2))] = value
}
let run = SyncBenchmarkRun(options)
let end = DispatchSemaphore(value: 0)
Task.detached {
  do {
    try await run.run()
  } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
  }
  end.signal()
}
// The first thread waits: callgrind can't follow one that runs tasks.
end.wait()
