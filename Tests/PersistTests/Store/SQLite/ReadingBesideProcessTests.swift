import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Read-only access while the log's index belongs to another process.
@Suite("Reading while another process has the store open", .aboutFiles("locks of files"))
struct ReadingBesideProcessTests {
  /// A process that has the database open and runs the SQL it is sent.
  private final class Other {
    private let process = TestRun.newProcess()
    private let input = Pipe()
    private let output = Pipe()

    init(_ url: URL) throws {
      process.executableURL = try BuiltProgram.url("SQLRunner")
      process.arguments = [url.path, "--lines"]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
    }

    func run(_ sql: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data((sql + "\n").utf8))
      let answer = try output.fileHandleForReading.read(upToCount: 5)
      #expect(answer.map { String(decoding: $0, as: UTF8.self) } == "done\n")
    }

    func end() throws {
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }

  /// Creates a database without a log, and a process that opens it.
  private func makeLogged(_ url: URL) throws -> Other {
    let writer = try SQLiteConnection(url, mode: .create)
    try writer.execute("CREATE TABLE T (A)")
    writer.close()
    return try Other(url)
  }

  private func count(_ url: URL, waitingAtMost limit: Duration) throws -> Int64? {
    try SQLiteConnection.reading(url, options: StoreOptions(busyTimeout: limit)) { connection in
      try connection.first("SELECT COUNT(*) FROM T") { $0.integer(0) }
    }
  }

  /// Leaves the index in its state before the first process has set it up.
  private func clearIndex(of url: URL) throws {
    let file = try FileHandle(forWritingTo: SQLiteFileName.companion(of: url, "-shm"))
    try file.write(contentsOf: Data(count: 136))
    try file.close()
  }

  @Test("A reader waits until another process has set up the index of the log")
  func waits() throws {
    try withTemporaryStore { url in
      let other = try makeLogged(url)
      defer { try? other.end() }
      try other.run("INSERT INTO T VALUES (1)")
      try other.run("SELECT COUNT(*) FROM T")
      #expect(try count(url, waitingAtMost: .seconds(30)) == 1)
      for _ in 0..<5 {
        try clearIndex(of: url)
        let seen = LockProtected<Result<Int64?, any Error>?>(nil)
        let reader = Thread {
          let result = Result { try count(url, waitingAtMost: .seconds(30)) }
          seen.withLock { $0 = result }
        }
        reader.start()
        Thread.sleep(forTimeInterval: 0.02)
        try other.run("SELECT COUNT(*) FROM T")
        while seen.withLock({ $0 == nil }) { Thread.sleep(forTimeInterval: 0.001) }
        try #expect(seen.withLock { $0 }?.get() == 1)
      }
    }
  }

  @Test("A reader whose index is never set up throws when its wait ends, and changes nothing")
  func givesUp() throws {
    try withTemporaryStore { url in
      let other = try makeLogged(url)
      defer { try? other.end() }
      try other.run("INSERT INTO T VALUES (1)")
      try clearIndex(of: url)
      let before = try FolderSnapshot(url.deletingLastPathComponent())
      let error = #expect(throws: PersistenceError.self) { try count(url, waitingAtMost: .milliseconds(50)) }
      #expect(error?.code == .storeBusy)
      #expect(error?.message.contains("hasn't prepared it for readers") == true)
      #expect(error?.fix?.contains("busyTimeout") == true)
      #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before)
    }
  }

  @Test("A reader sees commits that the only other process has just made", arguments: 1...3)
  func firstCommits(number: Int) throws {
    try withTemporaryStore { url in
      let other = try makeLogged(url)
      defer { try? other.end() }
      for _ in 0..<number { try other.run("INSERT INTO T VALUES (1)") }
      #expect(try count(url, waitingAtMost: .seconds(1)) == Int64(number))
    }
  }
}
