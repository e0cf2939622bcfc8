import Foundation
import Persist
public import PersistDocuments

/// The tests that every ``/PersistDocuments/AtomicStore`` passes: what it saved is what it loads.
///
/// ```swift
/// @Test("Documents in the keychain keep what they are given")
/// func contract() throws {
///   try AtomicStoreContract { name in KeychainStore(item: "test-\(name)") }.check()
/// }
/// ```
public struct AtomicStoreContract {
  private let make: (_ document: String) throws -> any AtomicStore

  /// - Parameter make: Returns a store for a document of this name, which doesn't exist at the first call. Each further
  ///   call with the same name returns another store for the same document, as another program would have it.
  public init(_ make: @escaping (_ document: String) throws -> any AtomicStore) { self.make = make }

  /// Runs all tests.
  ///
  /// - Throws: An error whose ``/Persist/PersistenceError/errors`` are all violations of the contract.
  public func check() throws {
    let violations = violations()
    guard !violations.isEmpty else { return }
    throw PersistenceError.combining(
      violations.map { PersistenceError(.saveFailed, $0) }, as: .saveFailed,
      "The store violates the contract of AtomicStore in \(violations.count) ways.")
  }

  /// The violations of the contract, in words; empty for a correct store.
  public func violations() -> [String] {
    [
      ("A new document", checkNew), ("A saved document", checkSaved), ("A smaller document", checkReplaced),
      ("A document that another store has saved", checkOutdated), ("Objects in a coordinator", checkObjects),
    ].flatMap { name, check in
      do {
        return try check(name.lowercased().replacing(" ", with: "-")).map { "\(name): \($0)" }
      } catch {
        return ["\(name): \(error)"]
      }
    }
  }

  private func checkNew(_ name: String) throws -> [String] {
    try make(name).load() == nil ? [] : ["It can be loaded although it was never saved."]
  }

  private func checkSaved(_ name: String) throws -> [String] {
    let document = try Self.document(count: 2000)
    let store = try make(name)
    _ = try store.load()
    try store.save(document)
    return try difference(store.load(), to: document, in: "the store that saved it")
      + difference(make(name).load(), to: document, in: "another store")
  }

  private func checkReplaced(_ name: String) throws -> [String] {
    let store = try make(name)
    _ = try store.load()
    try store.save(Self.document(count: 100))
    let document = try Self.document(count: 1)
    try store.save(document)
    return try difference(make(name).load(), to: document, in: "another store")
  }

  private func checkOutdated(_ name: String) throws -> [String] {
    let (first, second) = (try make(name), try make(name))
    _ = try first.load()
    try first.save(Self.document(count: 1))
    _ = try second.load()
    let document = try Self.document(count: 2)
    try second.save(document)
    do {
      try first.save(Self.document(count: 3))
      return ["The store replaced a document that it had neither loaded nor saved."]
    } catch {
      return try difference(make(name).load(), to: document, in: "another store")
    }
  }

  private func checkObjects(_ name: String) throws -> [String] {
    func open() throws -> (coordinator: PersistentStoreCoordinator, context: ManagedObjectContext) {
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.model))
      try coordinator.addDocument(make(name))
      return (coordinator, ManagedObjectContext(coordinator))
    }
    let saved = try open()
    let node = try saved.context.create("Node")
    node["text"] = "saved"
    try saved.context.save()
    let uri = node.objectID.uriRepresentation()
    let loaded = try open()
    guard let id = loaded.coordinator.managedObjectID(forURIRepresentation: uri),
      let found = try? loaded.context.existingObject(with: id), found["text"] as? String == "saved"
    else { return ["An object can't be found by its identifier after the document was opened again."] }
    return []
  }

  private func difference(_ found: StoreDocument?, to wanted: StoreDocument, in who: String) throws -> [String] {
    guard let found else { return ["\(who) finds no document."] }
    if found == wanted { return [] }
    var texts: [String] = []
    if found.identifier != wanted.identifier { texts.append("the identifier") }
    if found.model != wanted.model { texts.append("the model") }
    if found.metadata != wanted.metadata { texts.append("the metadata") }
    if found.lastKeys != wanted.lastKeys { texts.append("the last keys") }
    if let pair = zip(found.objects, wanted.objects).first(where: { $0 != $1 }) {
      texts.append("an object: \(pair.0) instead of \(pair.1)")
    } else if found.objects.count != wanted.objects.count {
      texts.append("\(found.objects.count) objects instead of \(wanted.objects.count)")
    }
    return ["\(who) loads something else: \(texts.joined(separator: ", "))."]
  }

  // MARK: The document

  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Node",
      attributes: [
        AttributeDescription("text", .string), AttributeDescription("number", .int64),
        AttributeDescription("ratio", .double, default: .double(0.1)), AttributeDescription("price", .decimal),
        AttributeDescription("date", .date), AttributeDescription("data", .binary), AttributeDescription("id", .uuid),
        AttributeDescription("link", .uri), AttributeDescription("isOpen", .boolean),
      ],
      relationships: [
        RelationshipDescription("parent", to: "Node", inverse: "children"),
        RelationshipDescription("children", toMany: "Node", inverse: "parent", isOrdered: true),
      ])
  ])

  /// A document with values of every kind, the extreme ones included.
  private static func document(count: Int) throws -> StoreDocument {
    let texts = ["", " ", "a\tb\r\nc", "\u{0}\u{1}\u{1F}\u{7F}", "e\u{301}🇨🇭\u{FFFD}", "<&>'\"\\/", "\u{FEFF}x"]
    let numbers: [Double] = [0, -0.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 0.1 + 0.2, .infinity]
    let integers: [Int64] = [0, .min, .max, -1, 9_007_199_254_740_993]
    var document = StoreDocument(
      identifier: UUID(uuidString: "6F0E3C0E-6C7E-4A0B-8C38-5F1F8A3C9E01")?.uuidString ?? "", model: model,
      metadata: ["author": .string("x"), "saved": .date(Date(timeIntervalSinceReferenceDate: 3))],
      lastKeys: ["Node": Int64(count) + 7])
    for index in 0..<count {
      let (key, number) = (Int64(index) + 1, numbers[index % numbers.count])
      var object = StoreDocument.Object(entity: "Node", key: key, version: Int64(index % 3) + 1)
      object.values = [
        "text": .string(texts[index % texts.count]), "number": .integer(integers[index % integers.count]),
        "ratio": .double(number),
        "date": .date(Date(timeIntervalSinceReferenceDate: number.isFinite ? number : 1)),
        "price": .decimal(Decimal(sign: .minus, exponent: -20, significand: Decimal(index))),
        "data": .data(Data((0..<index % 300).map { UInt8(truncatingIfNeeded: $0) })),
        "isOpen": .boolean(index % 2 == 0),
        "link": .uri("https://example.com/\(index)?a=b&c"),
      ]
      if index > 0 {
        object.references["parent"] = StoreDocument.Reference(entity: "Node", key: 1)
      } else {
        object.members["children"] = (0..<Int64(count)).dropFirst().map { $0 + 1 }.reversed()
      }
      document.objects.append(object)
    }
    return document
  }
}
