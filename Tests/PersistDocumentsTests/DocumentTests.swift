import Foundation
import Persist
import PersistDocuments
import PersistTestSupport
import PersistTesting
import Testing

/// The stores of documents that the package contains.
enum DocumentKind: String, CaseIterable, Sendable {
  case json, xml

  func store(_ url: URL) -> any AtomicStore {
    DocumentFile(at: url, format: self == .json ? .json : .xml)
  }
}

@Suite("Documents", .timeLimit(.minutes(5)))
struct DocumentTests {
  /// Folder {name, notes ordered}; Note {text, date, size, folder, tags}; Memo: Note; Tag {name, notes}.
  static func notes(extra: [AttributeDescription] = [], text: String = "text") -> ModelDescription {
    ModelDescription(entities: [
      EntityDescription(
        "Folder", attributes: [AttributeDescription("name", .string)],
        relationships: [
          RelationshipDescription("notes", toMany: "Note", inverse: "folder", isOrdered: true, deleteRule: .cascade)
        ]),
      EntityDescription(
        "Note",
        attributes: [
          AttributeDescription(text, .string, renamingIdentifier: "text"), AttributeDescription("date", .date),
          AttributeDescription("size", .int64),
        ] + extra,
        relationships: [
          RelationshipDescription("folder", to: "Folder", inverse: "notes"),
          RelationshipDescription("tags", toMany: "Tag", inverse: "notes"),
        ]),
      EntityDescription("Memo", parent: "Note", attributes: [AttributeDescription("isUrgent", .boolean)]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("notes", toMany: "Note", inverse: "tags")]),
    ])
  }

  static func open(
    _ store: any AtomicStore, _ model: ModelDescription = notes(), options: StoreOptions = StoreOptions()
  ) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(model))
    try coordinator.addDocument(store, options: options)
    return ManagedObjectContext(coordinator)
  }

  private func withDocument(_ kind: DocumentKind, _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { try body($0.appendingPathComponent("Notes.\(kind.rawValue)")) }
  }

  private func make(
    _ entity: String, _ values: [String: Any], in context: ManagedObjectContext
  ) throws -> ManagedObject {
    let object = try context.create(entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }

  private func texts(_ context: ManagedObjectContext, _ key: String = "text") throws -> [String] {
    try context.fetch(FetchRequest("Note", sortedBy: key)).map { $0[key] as? String ?? "-" }
  }

  private func error(_ body: () throws -> Void) -> PersistenceError? {
    do {
      try body()
      return nil
    } catch { return error as? PersistenceError }
  }

  @Test("A document is the same after it was a property list or JSON, with the extreme defaults of its model")
  func coding() throws {
    let attributes = [
      AttributeDescription("count", .int64, default: .integer(.max)),
      AttributeDescription("ratio", .double, default: .double(0.1)),
      AttributeDescription("isOpen", .boolean, default: .boolean(true)),
    ]
    let model = ModelDescription(entities: [EntityDescription("Note", attributes: attributes)])
    let document = StoreDocument(identifier: "A", model: model, lastKeys: ["Note": 3], objects: [])
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let encoder = PropertyListEncoder()
      encoder.outputFormat = format
      let copy = try PropertyListDecoder().decode(StoreDocument.self, from: encoder.encode(document))
      #expect(copy.model == model && copy.lastKeys == ["Note": 3])
    }
    let copy = try JSONDecoder().decode(StoreDocument.self, from: JSONEncoder().encode(document))
    #expect(copy.model == model)
  }

  @Test("The stores in JSON and XML fulfill the contract", arguments: DocumentKind.allCases)
  func contract(kind: DocumentKind) throws {
    try withTemporaryFolder { folder in
      try AtomicStoreContract { kind.store(folder.appendingPathComponent($0)) }.check()
    }
  }

  @Test("A store that forgets what it saved, or overwrites what others saved, violates the contract")
  func violations() {
    struct Forgetful: AtomicStore {
      let location: URL? = nil
      func load() -> StoreDocument? { nil }
      func save(_ document: StoreDocument) {}
    }
    #expect(AtomicStoreContract { _ in Forgetful() }.violations().count == 5)
    struct Overwriting: AtomicStore {
      let location: URL? = nil
      let document: LockedValue<StoreDocument?>
      func load() -> StoreDocument? { document.value }
      func save(_ document: StoreDocument) { self.document.value = document }
    }
    let documents = LockedValue<[String: LockedValue<StoreDocument?>]>([:])
    let violations = AtomicStoreContract { name in
      let document = documents.value[name] ?? LockedValue(nil)
      documents.value[name] = document
      return Overwriting(document: document)
    }.violations()
    #expect(violations.count == 1)
    #expect(violations.first?.contains("neither loaded nor saved") == true)
  }

  @Test(
    "Objects saved at random are the same after the document was opened again",
    .law("documents", short: 20, long: 1000))
  func roundTrip() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let kind = DocumentKind.allCases[Int(seed % 2)]
      try withDocument(kind) { url in
        var context = try Self.open(kind.store(url))
        for _ in 0..<4 {
          for _ in 0..<Int.random(in: 1...8, using: &random) { try change(context, &random) }
          try context.save()
          let expected = try Self.contents(context)
          context = try Self.open(kind.store(url))
          try #expect(Self.contents(context) == expected)
        }
      }
    }
  }

  private func change(_ context: ManagedObjectContext, _ random: inout SeededRandom) throws {
    func any(_ entity: String) throws -> ManagedObject? {
      try context.fetch(FetchRequest(entity)).randomElement(using: &random)
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: _ = try make("Folder", ["name": "f\(Int.random(in: 0..<100, using: &random))"], in: context)
    case 1, 2: _ = try make("Note", ["size": Int.random(in: 0..<100, using: &random)], in: context)
    case 3: _ = try make("Memo", ["isUrgent": Bool.random(using: &random), "text": "\u{1}<é>\n"], in: context)
    case 4: _ = try make("Tag", ["name": "t"], in: context)
    case 5: try any("Note")?.setValue(any("Folder"), forKey: "folder")
    case 6: if let note = try any("Note"), let tag = try any("Tag") { try note.related("tags").insert(tag) }
    default:
      let entity = ["Folder", "Note", "Tag"].randomElement(using: &random) ?? "Note"
      if let object = try any(entity) { context.delete(object) }
    }
  }

  /// Every object with its identifier, values and relationships.
  private static func contents(_ context: ManagedObjectContext) throws -> [String] {
    try ["Folder", "Note", "Tag"].flatMap { entity in
      try context.fetch(FetchRequest<ManagedObject>(entity)).map { object in
        let values = object.entity.attributes.map { "\($0.name)=\(object[$0.name].map { "\($0)" } ?? "nil")" }
        let relationships = try object.entity.relationships.map { relationship in
          guard relationship.isToMany else {
            let other = object[relationship.name] as? ManagedObject
            return "\(relationship.name)=\(other?.objectID.description ?? "nil")"
          }
          let ids = try object.related(relationship.name).map(\.objectID.description)
          return "\(relationship.name)=\(relationship.isOrdered ? ids : ids.sorted())"
        }
        return "\(object.objectID) " + (values + relationships).joined(separator: " ")
      }
    }
  }

  @Test(
    "A key is never used again, also if its object was deleted before the document was opened",
    arguments: DocumentKind.allCases)
  func keys(kind: DocumentKind) throws {
    try withDocument(kind) { url in
      var context = try Self.open(kind.store(url))
      let note = try make("Memo", [:], in: context)
      try context.save()
      let id = note.objectID
      context.delete(note)
      try context.save()
      context = try Self.open(kind.store(url))
      let other = try make("Note", [:], in: context)
      try context.save()
      #expect(other.objectID.primaryKey ?? 0 > id.primaryKey ?? 0)
    }
  }

  @Test("Batches and metadata are saved, and a save without changes writes nothing", arguments: DocumentKind.allCases)
  func otherWrites(kind: DocumentKind) throws {
    try withDocument(kind) { url in
      let context = try Self.open(kind.store(url))
      #expect(!FileManager.default.fileExists(atPath: url.path))
      try context.execute(BatchInsertRequest("Note", [["text": "a"], ["text": "b"]]))
      try context.execute(BatchUpdateRequest("Note", set: ["size": .value(3)]))
      try context.execute(BatchDeleteRequest("Note", where: FetchPredicate("text == 'a'")))
      let coordinator = context.persistentStoreCoordinator
      var metadata = try coordinator.metadata(of: coordinator.persistentStores[0])
      metadata.values["author"] = .string("me")
      try coordinator.setMetadata(metadata, of: coordinator.persistentStores[0])
      _ = try make("Note", ["text": "c"], in: context)
      try context.save()
      let date = try FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? UInt64
      try context.save()
      try #expect(FileManager.default.attributesOfItem(atPath: url.path)[.systemFileNumber] as? UInt64 == date)
      let other = try Self.open(kind.store(url))
      try #expect(texts(other) == ["b", "c"])
      let stores = other.persistentStoreCoordinator.persistentStores
      try #expect(other.persistentStoreCoordinator.metadata(of: stores[0]).values["author"] == .string("me"))
    }
  }

  // MARK: Failures

  @Test("A save that can't write its document fails, and changes neither the document nor the rows")
  func failingSave() throws {
    final class Failing: AtomicStore {
      let location: URL? = nil
      let document = LockedValue<StoreDocument?>(nil)
      let isFull = LockedValue(false)
      func load() -> StoreDocument? { document.value }
      func save(_ document: StoreDocument) throws {
        if isFull.value { throw PersistenceError(.diskFull, "The disk is full.") }
        self.document.value = document
      }
    }
    let store = Failing()
    let context = try Self.open(store)
    let note = try make("Note", ["text": "a"], in: context)
    try context.save()
    store.isFull.value = true
    note["text"] = "b"
    _ = try make("Note", ["text": "c"], in: context)
    #expect(error { try context.save() }?.code == .diskFull)
    #expect(context.hasChanges)
    try #expect(texts(ManagedObjectContext(context.persistentStoreCoordinator)) == ["a"])
    #expect(store.document.value?.objects.count == 1)
    store.isFull.value = false
    try context.save()
    try #expect(texts(Self.open(store)) == ["b", "c"])
  }

  @Test("A document that another program changed isn't overwritten", arguments: DocumentKind.allCases)
  func changedMeanwhile(kind: DocumentKind) throws {
    try withDocument(kind) { url in
      let first = try Self.open(kind.store(url))
      _ = try make("Note", ["text": "a"], in: first)
      try first.save()
      let second = try Self.open(kind.store(url))
      _ = try make("Note", ["text": "b"], in: second)
      try second.save()
      _ = try make("Note", ["text": "c"], in: first)
      #expect(error { try first.save() }?.code == .storeExchanged)
      try #expect(texts(Self.open(kind.store(url))) == ["a", "b"])
      try FileManager.default.removeItem(at: url)
      _ = try make("Note", [:], in: second)
      #expect(error { try second.save() }?.code == .storeExchanged)
    }
  }

  @Test("A damaged document is an error that names the file, and stays as it is", arguments: DocumentKind.allCases)
  func damaged(kind: DocumentKind) throws {
    try withDocument(kind) { url in
      let context = try Self.open(kind.store(url))
      _ = try make("Note", ["text": "a", "size": 7], in: context)
      try context.save()
      let text = try String(contentsOf: url, encoding: .utf8)
      let changes: [(String, String)] = [
        ("Note", "Novel"), ("size", "seize"), ("format", "shape"),
        kind == .json ? (" : 7", " : {") : (">7<", ">x<"),
      ]
      for (old, new) in changes + [(String(text.suffix(text.count / 2)), "")] {
        let damaged = text.replacingOccurrences(of: old, with: new)
        #expect(damaged != text, "\(old)")
        try damaged.write(to: url, atomically: true, encoding: .utf8)
        let found = error { _ = try Self.open(kind.store(url)) }
        #expect(found != nil, "\(old) → \(new)")
        #expect(found?.place.store == url || found?.place.file == url, "\(String(describing: found))")
        try #expect(String(contentsOf: url, encoding: .utf8) == damaged)
      }
    }
  }

  @Test("Options that a document can't have are refused, and read-only documents aren't written")
  func options() throws {
    try withDocument(.json) { url in
      func code(_ options: StoreOptions) -> PersistenceError.Code? {
        error { _ = try Self.open(DocumentFile(at: url, format: .json), options: options) }?.code
      }
      #expect(code(StoreOptions(tracksHistory: true)) == .invalidRequest)
      #expect(code(StoreOptions(createsIfMissing: false)) == .fileAccess)
      let context = try Self.open(DocumentFile(at: url, format: .json))
      _ = try make("Note", ["text": "a"], in: context)
      try context.save()
      let reader = try Self.open(DocumentFile(at: url, format: .json), options: StoreOptions(isReadOnly: true))
      try #expect(texts(reader) == ["a"])
      _ = try make("Note", [:], in: reader)
      #expect(error { try reader.save() }?.code == .storeReadOnly)
    }
  }

  // MARK: Migration

  @Test(
    "A document of an older model is migrated by the ordinary plan, and written in the new form",
    arguments: DocumentKind.allCases)
  func migration(kind: DocumentKind) throws {
    try withDocument(kind) { url in
      let context = try Self.open(kind.store(url))
      let folder = try make("Folder", ["name": "f"], in: context)
      let notes = try ["c", "a", "b"].map { try make("Memo", ["text": $0, "folder": folder], in: context) }
      try context.save()
      let id = notes[0].objectID.uriRepresentation()
      let new = Self.notes(extra: [AttributeDescription("rating", .int64, default: .integer(3))], text: "body")
      let before = try Data(contentsOf: url)
      #expect(error { _ = try Self.open(kind.store(url), new) }?.code == .incompatibleModel)
      try #expect(Data(contentsOf: url) == before)
      for options in [StoreOptions.automaticMigration, StoreOptions()] {
        let migrated = try Self.open(kind.store(url), new, options: options)
        try #expect(texts(migrated, "body") == ["a", "b", "c"])
        let found = try #require(migrated.persistentStoreCoordinator.managedObjectID(forURIRepresentation: id))
        let note = try migrated.existingObject(with: found)
        #expect(note["body"] as? String == "c")
        #expect(note["rating"] as? Int == 3)
        let order = try (note["folder"] as? ManagedObject)?.related("notes").map { $0["body"] as? String }
        #expect(order == ["c", "a", "b"])
      }
    }
  }

  @Test("A migration that would park values is refused, unless the migrator may lose them")
  func parking() throws {
    try withDocument(.json) { url in
      let rated = Self.notes(extra: [AttributeDescription("rating", .int64)])
      let context = try Self.open(DocumentFile(at: url, format: .json), rated)
      _ = try make("Note", ["rating": 5], in: context)
      try context.save()
      let before = try Data(contentsOf: url)
      let found = error { _ = try Self.open(DocumentFile(at: url, format: .json), options: .automaticMigration) }
      #expect(found?.code == .migrationFailed)
      #expect(found?.place.store == url)
      try #expect(Data(contentsOf: url) == before)
      var migrator = AutomaticMigrator()
      migrator.parking = .none
      let lossy = try Self.open(DocumentFile(at: url, format: .json), options: StoreOptions(migrator: migrator))
      try #expect(lossy.count("Note") == 1)
    }
  }
}

/// A value behind a lock.
final class LockedValue<Value: Sendable>: @unchecked Sendable {
  // @unchecked: the value is only accessed while the lock is held.
  private let lock = NSLock()
  private var stored: Value

  init(_ value: Value) { stored = value }

  var value: Value {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
