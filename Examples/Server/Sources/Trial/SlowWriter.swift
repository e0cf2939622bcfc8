import Foundation
import Notes
import Persist
import PersistMacrosless

/// Another process that imports notes, slowly, in one transaction.
enum SlowWriter {
  /// Starts it, and returns when it has the write lock.
  static func start(at store: URL, for time: Duration) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--hold", store.path, "\(time / .seconds(1))"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    guard try output.fileHandleForReading.read(upToCount: 1) != nil else {
      throw Complaint(text: "The slow writer ended early.")
    }
    return process
  }

  /// What the process does. It ends by itself.
  static func hold(_ store: URL, for time: Duration) throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Note.self))
    try coordinator.addStore(at: store)
    let end = ContinuousClock.now + time
    var count = 0
    let slow = BatchInsertRequest("Note", dictionaryHandler: { row in
      if count == 0 { FileHandle.standardOutput.write(Data("!".utf8)) }
      Thread.sleep(forTimeInterval: 0.05)
      count += 1
      row = ["id": UUID(), "title": "imported \(count)", "text": "", "created": Date()]
      return ContinuousClock.now >= end
    })
    _ = try ManagedObjectContext(coordinator).execute(slow)
  }
}
