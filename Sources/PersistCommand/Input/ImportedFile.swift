import Foundation
import Persist

/// A file with objects to import.
struct ImportedFile {
  let url: URL
  let size: Int
  /// The entity of a table; nil for JSON lines, which name it themselves.
  let entity: String?

  private static let jsonExtensions = ["json", "jsonl", "ndjson"]

  /// Returns the file, or the files of a folder in the order of their names.
  ///
  /// - Parameter entity: the entity of a table; nil if the file is named for it.
  static func files(at url: URL, entity: String?) throws -> [ImportedFile] {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      throw PersistenceError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' doesn't exist.",
        fix: "Name a file with objects, or a folder with such files.")
    }
    guard isFolder.boolValue else { return [try ImportedFile(url, entity: entity)] }
    guard entity == nil else {
      throw PersistenceError(
        .invalidRequest, at: .file(url), "An entity can't be named for a whole folder.",
        fix: "Import its files one by one, or omit --entity.")
    }
    let known = jsonExtensions + ["csv"]
    let files = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
      .map { url.appendingPathComponent($0) }.filter { known.contains($0.pathExtension.lowercased()) }
    guard !files.isEmpty else {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The folder contains no .csv, .json, .jsonl or .ndjson file.")
    }
    return try files.map { try ImportedFile($0, entity: nil) }
  }

  private init(_ url: URL, entity: String?) throws {
    self.url = url
    switch url.pathExtension.lowercased() {
    case "csv": self.entity = entity ?? url.deletingPathExtension().lastPathComponent
    case let type where Self.jsonExtensions.contains(type) && entity != nil:
      throw PersistenceError(
        .invalidRequest, at: .file(url), "JSON lines name the entity of each object themselves.",
        fix: "Omit --entity.")
    // Of files with other names, only tables need the entity.
    default: self.entity = entity
    }
    size = (try? url.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
  }

  func reader(_ entities: ImportedEntities) throws -> any ImportReader {
    if let entity { return try ObjectTableReader(url, entity: entity, entities: entities) }
    return try ObjectLineReader(url, entities: entities)
  }
}

/// Reads files one after the other, in slices of bounded size.
struct ImportQueue {
  private var files: ArraySlice<ImportedFile>
  private let entities: ImportedEntities
  private var current: (any ImportReader)?
  private var finished = 0
  /// The number of objects read so far.
  private(set) var count = 0
  /// The greatest keys so far, by the number of the hierarchy's root, as if the store had been empty.
  private var greatestKeys: [Int: Int64] = [:]
  private static let sliceSize = 2000
  /// The bytes of a slice's files; large values end a slice early.
  private static let sliceBytes = 16 << 20

  init(_ files: [ImportedFile], entities: ImportedEntities) {
    self.files = files[...]
    self.entities = entities
  }

  /// The number of bytes read so far.
  var position: Int { finished + (current?.position ?? 0) }

  /// Returns the next objects; nil at the end.
  mutating func nextSlice() throws -> ImportSlice? {
    var slice = ImportSlice()
    let start = position
    while slice.inserts.count < Self.sliceSize, position - start < Self.sliceBytes,
      let (entity, draft, source) = try next()
    {
      count += 1
      slice.inserts.append(
        RowWrites.Insert(
          key: try key(of: draft, entity.entity, source), entity: entity.entity, values: draft.values))
      slice.members.append(draft.members)
      slice.sources.append(source)
    }
    return slice.inserts.isEmpty ? nil : slice
  }

  /// Returns the object's own key, or a temporary one if the store will have a key for it.
  private mutating func key(
    of draft: ImportedEntity.Draft, _ entity: Entity, _ source: ImportSlice.Source
  ) throws -> ManagedObjectID.Key {
    let greatest = greatestKeys[entity.root.number] ?? 0
    if let key = draft.key {
      greatestKeys[entity.root.number] = max(greatest, key)
      return .permanent(key)
    }
    guard greatest < Int64.max else {
      throw PersistenceError(
        .invalidRequest,
        at: PersistenceError.Place(entity: entity.name, file: source.file, line: source.line),
        "There is no key for the object, because another imported one uses up the keys.",
        fix: "Give it a key with 'pk', or give the other one a smaller key.")
    }
    greatestKeys[entity.root.number] = greatest + 1
    return .temporary(UInt64(count))
  }

  private mutating func next() throws
    -> (entity: ImportedEntity, draft: ImportedEntity.Draft, source: ImportSlice.Source)?
  {
    while true {
      if let found = try current?.next(), let source = current?.source { return (found.entity, found.draft, source) }
      finished += current?.position ?? 0
      current = try files.popFirst()?.reader(entities)
      guard current != nil else { return nil }
    }
  }
}
