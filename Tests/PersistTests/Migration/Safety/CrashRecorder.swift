import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistModel

/// Copies a folder before every change that SQLite makes in it: the files that a killed process leaves, and those that
/// remain after a power failure.
final class CrashRecorder: Sendable {
  struct Image: Sendable {
    let moment: String
    let files: [String: Data]

    func write(to folder: URL) throws {
      for (path, data) in files {
        let file = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
      }
    }
  }

  private struct State {
    var images: [Image] = []
    var last: (killed: [String: Data], powerless: [String: Data]) = ([:], [:])
    var count = 0
    /// The contents of a file that are certainly on the disk, by the file's inode number.
    var durable: [UInt64: Data] = [:]
    var created: Set<String> = []
    /// Files of large values are written once.
    var values: [String: Data] = [:]
  }

  private let folder: URL
  private let state = LockProtected(State())

  init(_ folder: URL) { self.folder = folder }

  var images: [Image] { state.withLock { $0.images } }

  func record(_ operation: FileOperation) -> FileVerdict {
    state.withLock { state in
      follow(operation, &state)
      if operation.kind != .read, operation.kind != .open { capture(operation, &state) }
    }
    return .proceed
  }

  func recordEnd() {
    state.withLock { capture(FileOperation(kind: .sync, file: folder), &$0) }
  }

  /// The working folder's files matter once they are the store, and are on the disk then.
  private func follow(_ operation: FileOperation, _ state: inout State) {
    let path = operation.file.path
    guard !path.contains(".migration/") else { return }
    let number = Self.number(path)
    switch operation.kind {
    case .open:
      if let number {
        if state.durable[number] == nil { state.durable[number] = FileManager.default.contents(atPath: path) }
      } else {
        state.created.insert(path)
      }
    case .write:
      if let number, state.created.remove(path) != nil { state.durable[number] = Data() }
    case .sync: if let number { state.durable[number] = FileManager.default.contents(atPath: path) }
    case .delete: if let number { state.durable[number] = nil }
    case .read, .truncate: break
    }
  }

  private func capture(_ operation: FileOperation, _ state: inout State) {
    state.count += 1
    let moment = "\(state.count): \(operation.kind) \(operation.file.lastPathComponent)"
    var (killed, powerless): ([String: Data], [String: Data]) = ([:], [:])
    for path in (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? [] {
      let full = folder.appendingPathComponent(path).path
      guard FileState(URL(fileURLWithPath: full))?.isFolder == false else { continue }
      let isValue = path.contains("_EXTERNAL_DATA/")
      guard let data = (isValue ? state.values[path] : nil) ?? FileManager.default.contents(atPath: full) else {
        continue
      }
      if isValue { state.values[path] = data }
      killed[path] = data
      // Unsynced contents are lost without power.
      if !path.hasSuffix("-shm") { powerless[path] = Self.number(full).flatMap { state.durable[$0] } ?? data }
    }
    if killed != state.last.killed { state.images.append(Image(moment: "killed at \(moment)", files: killed)) }
    if powerless != state.last.powerless, powerless != killed {
      state.images.append(Image(moment: "without power at \(moment)", files: powerless))
    }
    state.last = (killed, powerless)
  }

  private static func number(_ path: String) -> UInt64? {
    let facts = try? FileManager.default.attributesOfItem(atPath: path)
    return (facts?[.systemFileNumber] as? NSNumber)?.uint64Value
  }
}
