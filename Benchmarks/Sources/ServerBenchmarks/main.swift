import Foundation

// Measures Persist on a PostgreSQL server beside libpq used by hand: ServerBenchmarks URL [ROWS] [ROUNDS] [WORKLOAD].
// Writes a table in Markdown. ServerBenchmarks URL writers [SECONDS] lets eight programs write at the same time, and
// ServerBenchmarks URL latencies [SECONDS] measures single operations beside writers.

let arguments = CommandLine.arguments.dropFirst().map { $0 }
guard let url = arguments.first, let port = URL(string: url)?.port else {
  FileHandle.standardError.write(Data("ServerBenchmarks postgresql://USER@127.0.0.1:PORT/DATABASE [ROWS] [ROUNDS] [WORKLOAD]\n".utf8))
  exit(64)
}
if let role = arguments.dropFirst().first, ["writers", "writer", "latencies"].contains(role) {
  let seconds = arguments.dropFirst(2).first.flatMap { Double($0) }
  do {
    switch role {
    case "writers": print(try Writers.run(url, seconds: seconds ?? 60))
    case "latencies": try ServerSessions.measure(url, seconds: seconds ?? 3)
    default: try Writers.write(url, seconds: seconds ?? 60)
    }
    exit(0)
  } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
  }
}
let rows = arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let rounds = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 3
let chosen = arguments.dropFirst(3).first

do {
  let proxy = try DelayProxy(to: UInt16(port), delay: 0.0005)
  let distant = url.replacing(":\(port)/", with: ":\(proxy.port)/")
  print("| workload | | by hand, ms | Persist, ms | ratio | wanted |")
  print("| --- | --- | ---: | ---: | ---: | ---: |")
  for contest in Contest.all where chosen == nil || chosen == contest.name {
    let result = try contest.measure(url, distant: distant, rows: rows, rounds: rounds)
    func milliseconds(_ seconds: Double) -> String { String(format: "%.1f", seconds * 1000) }
    print(
      "| `\(contest.name)` | \(contest.summary) | \(milliseconds(result.plain)) | \(milliseconds(result.persist)) | "
        + String(format: "%.2f | %.1f |", result.ratio, contest.target))
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
