import Foundation

// Measures how long the readers and writers of a file wait for a migration, in one transaction and beside them, and
// prints a table in Markdown:
//
//   WaitBenchmarks [--rows 1000000] [--only NAME]
//
// It starts itself as the other programs that use the file:
//
//   WaitBenchmarks --other persist|plain --file FILE --case NAME --rows N

var options: [String: String] = [:]
var arguments = CommandLine.arguments.dropFirst()
while let name = arguments.popFirst() {
  guard name.hasPrefix("--"), let value = arguments.popFirst() else {
    FileHandle.standardError.write(Data("WaitBenchmarks [--rows N] [--only NAME]\n".utf8))
    exit(64)
  }
  options[String(name.dropFirst(2))] = value
}
do {
  let rows = options["rows"].flatMap(Int.init) ?? 1_000_000
  if let kind = options["other"].flatMap(OtherProgram.Kind.init), let file = options["file"],
    let waitCase = WaitCase.all.first(where: { $0.name == options["case"] })
  {
    try OtherProgram.run(kind, URL(fileURLWithPath: file), waitCase, rows: rows)
  } else {
    try WaitContest(rows: rows, only: options["only"]).run()
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
