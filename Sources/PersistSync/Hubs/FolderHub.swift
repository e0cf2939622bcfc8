public import Foundation
import Persist

/// A hub in a folder, which may be on a shared volume or synchronized by another program.
///
/// Each change set is a file that never changes, in a folder of its replica, and each part of a large value is one:
///
/// ```
/// changes/6F1C…/0000000000000001.persist
/// parts/CA2B….persist
/// positions/6F1C….json
/// ```
public struct FolderHub: SyncHub {
  /// The folder.
  public let url: URL

  /// Uses a folder, which is created with the first change set.
  public init(_ url: URL) { self.url = url }

  private var changes: URL { url.appendingPathComponent("changes", isDirectory: true) }
  private var partFolder: URL { url.appendingPathComponent("parts", isDirectory: true) }
  private var positionFolder: URL { url.appendingPathComponent("positions", isDirectory: true) }

  private func folder(of replica: UUID) -> URL {
    changes.appendingPathComponent(replica.uuidString, isDirectory: true)
  }

  private func file(of entry: SyncEntry) -> URL {
    if entry.isPart { return partFolder.appendingPathComponent("\(entry.replica.uuidString).persist") }
    let digits = String(entry.number)
    let name = String(repeating: "0", count: max(0, 16 - digits.count)) + digits + ".persist"
    return folder(of: entry.replica).appendingPathComponent(name)
  }

  /// The names in a folder; none if it doesn't exist, or is a link.
  private func names(in folder: URL) throws -> [String] {
    if isLinked(folder) { return [] }
    return try reporting("The hub's folder can't be read", folder) {
      do {
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
      } catch where !FileManager.default.fileExists(atPath: folder.path) {
        return []
      }
    }
  }

  /// Names the file in errors of the file system.
  private func reporting<Result>(_ what: String, _ file: URL, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(file), "\(what): \(error.localizedDescription)",
        fix: "Check that the folder '\(url.path)' is there and may be written, and the free space.")
    }
  }

  /// Lists the files of the folder that are newer than those given.
  public func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
    var entries: [SyncEntry] = []
    for name in try names(in: changes) {
      guard let replica = UUID(uuidString: name) else { continue }
      let last = numbers[replica] ?? 0
      for file in try names(in: folder(of: replica)) where file.hasSuffix(".persist") {
        guard let number = Int64(file.dropLast(".persist".count)), number > last else { continue }
        entries.append(SyncEntry(replica: replica, number: number))
      }
    }
    return entries.sorted()
  }

  /// Reads the file of an entry; nil if there is none.
  public func content(of entry: SyncEntry) async throws -> Data? { try content(of: file(of: entry)) }

  private func content(of file: URL) throws -> Data? {
    try check(file)
    return try reporting("A file of the hub can't be read", file) {
      do {
        return try Data(contentsOf: file)
      } catch where !FileManager.default.fileExists(atPath: file.path) {
        return nil
      }
    }
  }

  /// Refuses everything but regular files, since others may write to the folder: reading a pipe might never end, and a
  /// link may lead anywhere.
  ///
  /// - Throws: `PersistenceError.Code.malformedFile` unless it is a file of an acceptable size, or there is none.
  private func check(_ file: URL) throws {
    try requireOwn(file)
    guard let state = FileState(file) else { return }
    guard state.isRegular else { throw SyncFormat.error("It isn't a file.") }
    try SyncFormat.checkSize(Int(state.size))
  }

  private func requireOwn(_ file: URL) throws {
    if isLinked(file) { throw SyncFormat.error("It is, or is in, a link to another place.") }
  }

  /// Whether a file, or one of the hub's folders around it, is a link. The hub's own folder may be one.
  private func isLinked(_ file: URL) -> Bool {
    var place = file
    while place.path.count > url.path.count {
      if FileState.isLink(place) { return true }
      place.deleteLastPathComponent()
    }
    return false
  }

  /// Writes the file of an entry completely, or not at all.
  public func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
    let file = file(of: entry)
    if let present = try self.content(of: file) { return present == content }
    return try reporting("A file of the hub can't be written", file) { try write(content, to: file) }
  }

  /// - Returns: False if there is such a file with other content.
  private func write(_ content: Data, to file: URL) throws -> Bool {
    let folder = file.deletingLastPathComponent()
    while let missing = FileState.missingFolder(of: file) {
      try FileManager.default.createDirectory(at: missing, withIntermediateDirectories: true)
      flush(missing.deletingLastPathComponent())
    }
    let draft = folder.appendingPathComponent(".\(UUID().uuidString).part")
    defer { try? FileManager.default.removeItem(at: draft) }
    try content.write(to: draft)
    let handle = try FileHandle(forWritingTo: draft)
    try handle.synchronize()
    try handle.close()
    do {
      // A link fails if the file exists, unlike a renaming.
      try FileManager.default.linkItem(at: draft, to: file)
    } catch {
      if let present = try self.content(of: file) { return present == content }
      // The file system has no links.
      try FileManager.default.moveItem(at: draft, to: file)
    }
    flush(folder)
    return true
  }

  /// Writes the names in a folder to the disk, since the replica deletes its own copy of the change set. Some network
  /// volumes can't do that.
  private func flush(_ folder: URL) { try? FileSynchronization.synchronize(folder) }

  /// Returns whether there is a file for an entry.
  public func contains(_ entry: SyncEntry) async throws -> Bool {
    let file = file(of: entry)
    return !isLinked(file) && FileState(file)?.isRegular == true
  }

  /// Lists the files of parts.
  public func parts() async throws -> [SyncEntry] {
    try names(in: partFolder).filter { $0.hasSuffix(".persist") }.compactMap { name in
      UUID(uuidString: String(name.dropLast(".persist".count))).map { SyncEntry(replica: $0, number: 1) }
    }.filter(\.isPart).sorted()
  }

  /// Deletes the files of entries.
  public func remove(_ entries: [SyncEntry]) async throws {
    try removeFiles(entries.map(file(of:)))
  }

  private func removeFiles(_ files: [URL]) throws {
    for file in files {
      try requireOwn(file)
      try reporting("A file of the hub can't be deleted", file) {
        do {
          try FileManager.default.removeItem(at: file)
        } catch where !FileManager.default.fileExists(atPath: file.path) {}
      }
    }
  }

  /// Reads the positions of all replicas; unreadable ones are omitted.
  public func positions() async throws -> [ReplicaPosition] {
    try names(in: positionFolder).filter { $0.hasSuffix(".json") }.sorted().compactMap { name in
      let file = positionFolder.appendingPathComponent(name)
      do {
        return try content(of: file).flatMap { try? JSONDecoder().decode(ReplicaPosition.self, from: $0) }
      } catch let error as PersistenceError where error.code == .malformedFile {
        return nil
      }
    }
  }

  /// Writes the position of a replica.
  public func setPosition(_ position: ReplicaPosition) async throws {
    try requireOwn(positionFolder)
    let (file, data) = (file(ofPosition: position.replica), try JSONEncoder().encode(position))
    try reporting("A file of the hub can't be written", file) {
      try FileManager.default.createDirectory(at: positionFolder, withIntermediateDirectories: true)
      try data.write(to: file, options: .atomic)
    }
  }

  /// Deletes the positions of replicas.
  public func removePositions(of replicas: [UUID]) async throws { try removeFiles(replicas.map(file(ofPosition:))) }

  private func file(ofPosition replica: UUID) -> URL {
    positionFolder.appendingPathComponent("\(replica.uuidString).json")
  }
}
