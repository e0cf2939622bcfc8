import Foundation
import Persist

/// The contents of the file before a run. Persist creates each store once; every run uses a copy.
enum StartingStore: Hashable {
  /// No file.
  case none
  /// Items with the values of ``SampleRow``.
  case items
  /// The same, with an index over quantity and rank.
  case indexedItems
  /// The same, with an index over rank.
  case rankedItems
  /// Authors with books; the rows are the books.
  case library(booksPerAuthor: Int)
  /// The same, with indexes over names, pages and titles.
  case indexedLibrary(booksPerAuthor: Int)
  /// Fifty entities of the same form, each with some rows.
  case manyEntities
  /// A thousand entities in lines of inheritance, with some rows.
  case largeModel(depth: Int)
  /// A number of entities of the same form, each with some rows; the rows are the entities.
  case entities
  /// One author with books, which are the rows.
  case owner
  /// A thousand rows of an entity with many attributes; the rows are the attributes.
  case attributes
  /// A few items in a file of a size; the rows are its megabytes. Runs work on the file itself, because a copy would
  /// take as much space again.
  case largeFile
  /// An empty store of the newest of many model versions, whose files are in ``models(beside:)``.
  case manyVersions

  private static let itemsOfLargeFile = 1_000

  /// The number of items in the table, in a store of items.
  func itemCount(rows: Int) -> Int { self == .largeFile ? Self.itemsOfLargeFile : rows }

  /// The model of a store of items.
  var itemModel: ManagedObjectModel {
    get throws { try self == .largeFile ? Samples.attachments : Samples.indexedItems }
  }

  /// The file to copy; nil for none.
  func template(rows: Int, in folder: URL) throws -> URL? {
    if self == .none { return nil }
    let url = folder.appendingPathComponent("template-\(self)-\(rows).sqlite")
    if FileManager.default.fileExists(atPath: url.path) { return url }
    switch self {
    case .none: break
    case .items: try Self.fill(url, Samples.items, rows)
    case .indexedItems: try Self.fill(url, Samples.indexedItems, rows)
    case .rankedItems: try Self.fill(url, Samples.rankedItems, rows)
    case .library(let booksPerAuthor):
      try Self.fill(url, Samples.library, authors: rows / booksPerAuthor, booksPerAuthor)
    case .indexedLibrary(let booksPerAuthor):
      try Self.fill(url, Samples.indexedLibrary, authors: rows / booksPerAuthor, booksPerAuthor)
    case .manyEntities: try Self.fill(url, entitiesOf: Samples.entities(50))
    case .entities: try Self.fill(url, entitiesOf: Samples.entities(rows))
    case .owner: try Self.fill(url, Samples.library, authors: 1, rows)
    case .attributes: try Self.fillWide(url, attributes: rows)
    case .largeFile: try Self.fillLarge(url, megabytes: rows)
    case .largeModel(let depth): try Self.fillLarge(url, Samples.largeModel(depth: depth))
    case .manyVersions:
      let models = Self.models(beside: url)
      try ModelVersionFiles.write(rows, to: models)
      _ = try Samples.context(url, ManagedObjectModel(contentsOf: models))
    }
    PlainSQLite(url.path).run("PRAGMA wal_checkpoint(TRUNCATE)")
    return url
  }

  /// Puts a copy in the place of the store of an earlier run.
  func copy(to file: URL, rows: Int, in folder: URL) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
    guard let template = try template(rows: rows, in: folder) else { return }
    if self == .largeFile { return try FileManager.default.createSymbolicLink(at: file, withDestinationURL: template) }
    try FileManager.default.copyItem(at: template, to: file)
    // Otherwise the first contestant that writes to the disk waits for the whole copy too.
    let copy = try FileHandle(forWritingTo: file)
    try copy.synchronize()
    try copy.close()
  }

  /// The models that belong to a store of many versions.
  static func models(beside store: URL) -> URL {
    store.deletingLastPathComponent().appendingPathComponent("Catalogue.xcdatamodeld")
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel, _ rows: Int) throws {
    let context = try Samples.context(url, model)
    var numbers = (0..<rows).makeIterator()
    try context.execute(BatchInsertRequest("Item") { row in
      guard let number = numbers.next() else { return false }
      SampleItem.fill(&row, SampleRow(number))
      return true
    })
  }

  private static func fill(_ url: URL, _ model: ManagedObjectModel, authors: Int, _ booksPerAuthor: Int) throws {
    let context = try Samples.context(url, model)
    var authorNumbers = (0..<authors).makeIterator()
    let result = try context.execute(BatchInsertRequest("Author") { row in
      guard let number = authorNumbers.next() else { return false }
      row["name"] = .string("Author \(number)")
      return true
    })
    guard result.count == authors, let store = context.persistentStoreCoordinator.persistentStores.first else {
      throw BenchmarkError("The authors could not be written.")
    }
    var books = (0..<authors * booksPerAuthor).makeIterator()
    try context.execute(BatchInsertRequest("Book") { row in
      guard let number = books.next() else { return false }
      row["title"] = .string(SampleRow(number).name)
      row["pages"] = .integer(Int64(number % 700))
      row["author"] = .objectID(
        ManagedObjectID(
          entityName: "Author", storeIdentifier: store.identifier, key: .permanent(Int64(number / booksPerAuthor + 1))))
      return true
    })
  }

  private static func fillLarge(_ url: URL, _ model: ManagedObjectModel) throws {
    let context = try Samples.context(url, model)
    for entity in model.entities.suffix(10) { try context.create(entity.name)["name0"] = entity.name }
    try context.save()
  }

  private static func fillWide(_ url: URL, attributes: Int) throws {
    let context = try Samples.context(url, Samples.wide(attributes: attributes))
    var numbers = (0..<1_000).makeIterator()
    try context.execute(BatchInsertRequest("Wide") { row in
      guard let number = numbers.next() else { return false }
      for slot in 0..<attributes { row[slot: slot] = .integer(Int64(number + slot)) }
      return true
    })
  }

  private static func fillLarge(_ url: URL, megabytes: Int) throws {
    try fill(url, Samples.attachments, itemsOfLargeFile)
    let database = PlainSQLite(url.path)
    for first in stride(from: 0, to: megabytes, by: 20) {
      database.run(
        """
        INSERT INTO ZATTACHMENT (Z_ENT, Z_OPT, ZCONTENT) WITH RECURSIVE rows(n) AS \
        (VALUES (\(first)) UNION ALL SELECT n + 1 FROM rows WHERE n + 1 < \(min(first + 20, megabytes))) \
        SELECT (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Attachment'), 1, zeroblob(1000000) FROM rows
        """)
    }
    database.run("UPDATE Z_PRIMARYKEY SET Z_MAX = \(megabytes) WHERE Z_NAME = 'Attachment'")
  }

  private static func fill(_ url: URL, entitiesOf model: ManagedObjectModel) throws {
    let context = try Samples.context(url, model)
    for entity in model.entities {
      for number in 0..<10 {
        let object = try context.create(entity.name)
        object["name"] = "\(entity.name) \(number)"
        object["quantity"] = number
      }
    }
    try context.save()
  }
}
