import Foundation
import PersistSync

extension Device {
  /// Performs commands from standard input and synchronizes all the while, as an application does that is in use.
  ///
  /// A command is a line with tabs between its words. The answer is what it prints, and then `ok` once the change is
  /// saved, or `failed` with the reason.
  func live(_ replica: Replica, _ hub: some SyncHub) async {
    let synchronizing = Task {
      while !Task.isCancelled {
        // Without a connection, the changes are sent with a later attempt.
        _ = try? await replica.synchronize(with: hub)
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    for await line in Self.lines() {
      var answer: [String]
      do {
        answer = try perform(line.split(separator: "\t").map(String.init)) + ["ok"]
      } catch {
        answer = ["failed: \(error)"]
      }
      FileHandle.standardOutput.write(Data(answer.map { "\($0)\n" }.joined().utf8))
    }
    synchronizing.cancel()
  }

  /// The lines of standard input.
  private static func lines() -> AsyncStream<String> {
    AsyncStream { lines in
      // A task would block one of Swift's few threads.
      Thread.detachNewThread {
        while let line = readLine() { lines.yield(line) }
        lines.finish()
      }
    }
  }
}
