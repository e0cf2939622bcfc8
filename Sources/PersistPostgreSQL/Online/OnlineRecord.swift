package import Foundation
package import Persist

/// A store's record that it serves a second model, or is about to, in a table of its own.
///
/// The store's ordinary metadata remain those of the first model, so that its programs, of any version, find what they
/// expect. A program with the second model finds its tables and columns beside those of the first.
package struct OnlineRecord: Sendable {
  /// The states of a store between the first step of an online migration and the last.
  ///
  /// ```
  ///        expand             backfill            contract
  /// none ─────────▶ expanded ──────────▶ serving ──────────▶ none, with the second model
  ///                    │      abort         │
  ///                    └──────────┬─────────┘
  ///                               ▼
  ///                     none, with the first model
  /// ```
  ///
  /// Each arrow but the backfill is one transaction; the backfill consists of small ones, and continues where it ended.
  package enum State: String, Sendable {
    /// The places of both models are there and kept in step. Older rows aren't complete in those of the second model,
    /// which no program can use yet.
    case expanded
    /// Programs with either model use the store.
    case serving
  }

  package var state: State
  /// The names of the two versions.
  package let from: String
  package let to: String
  /// The entity numbers of the second model.
  package let numbers: [EntityNumbers.Row]
  /// The text of the second model.
  package let model: Data
  package let versionIdentifiers: [String]
  /// The second model's tables and columns whose names differ from those of the rules.
  package let placeNames: PlaceNames
  /// The names of the second model by those of the first.
  package let renames: PropertyRenames
  /// The time of the expansion.
  package let since: Date

  package init(
    state: State, from: String, to: String, numbers: [EntityNumbers.Row], model: ManagedObjectModel,
    names: PlaceNames, renames: PropertyRenames, since: Date
  ) {
    (self.state, self.from, self.to, self.numbers, self.since) = (state, from, to, numbers, since)
    (placeNames, self.renames) = (names, renames)
    self.model = Data(model.description.json.utf8)
    versionIdentifiers = model.versionIdentifiers
  }

  static let table = "PERSIST_ONLINE"

  private enum Key {
    static let description = "description"
    static let progress = "progress"
  }
}

// MARK: Reading and writing

extension OnlineRecord {
  /// The contents of the table; nil if the store serves only one model.
  private static func contents(_ session: ServerSession) throws -> [String: Data]? {
    guard try session.hasTable(table) else { return nil }
    let rows = try session.all("SELECT key, value FROM \(table: table)") { ($0.text($1, 0), $0.data($1, 1)) }
    return Dictionary(rows, uniquingKeysWith: { first, _ in first })
  }

  init?(_ session: ServerSession) throws {
    guard let contents = try Self.contents(session) else { return nil }
    try self.init(contents, at: session.url)
  }

  private init(_ contents: [String: Data], at url: URL?) throws {
    let place = PersistenceError.Place.store(url)
    let values = try contents[Key.description].flatMap { try PropertyList(data: $0, place: place).dictionaryValue }
    guard let values, let state = values["state"]?.stringValue.flatMap(State.init),
      let from = values["from"]?.stringValue, let to = values["to"]?.stringValue,
      let rows = values["numbers"]?.arrayValue, let model = contents["model"]
    else {
      throw PersistenceError(
        .storeDamaged, at: place, "The store's record of its online migration can't be read.",
        fix: "Restore the store from a backup.")
    }
    (self.state, self.from, self.to, self.model) = (state, from, to, model)
    versionIdentifiers = values["identifiers"]?.arrayValue?.compactMap(\.stringValue) ?? []
    renames = PropertyRenames(values["renames"])
    placeNames = PlaceNames(values["names"]) ?? PlaceNames()
    since = Date(timeIntervalSinceReferenceDate: values["since"]?.stringValue.flatMap(Double.init) ?? 0)
    numbers = rows.compactMap { row in
      guard let parts = row.arrayValue, parts.count == 4, let number = parts[0].integerValue,
        let name = parts[1].stringValue, let parent = parts[2].integerValue
      else { return nil }
      return EntityNumbers.Row(
        number: Int(number), name: name, parent: Int(parent), maximum: parts[3].stringValue.flatMap { Int64($0) })
    }
  }

  private var description: PropertyList {
    .dictionary([
      "state": .string(state.rawValue), "from": .string(from), "to": .string(to),
      "identifiers": .array(versionIdentifiers.map(PropertyList.string)),
      "since": .string("\(since.timeIntervalSinceReferenceDate)"), "renames": renames.propertyList,
      "names": placeNames.propertyList,
      "numbers": .array(
        numbers.map { row in
          .array([
            .integer(Int64(row.number)), .string(row.name), .integer(Int64(row.parent)),
            .string(row.maximum.map { "\($0)" } ?? ""),
          ])
        }),
    ])
  }

  /// The statements that create the table with the record.
  ///
  /// - Parameter metadata: The store's metadata.
  func creation(_ second: ManagedObjectModel, _ metadata: StoreMetadata) throws -> [ServerText] {
    let contents = try ModelRecord.contents(
      fingerprints: second.fingerprints, modelText: model, metadata: self.metadata(second, metadata))
    return ["CREATE TABLE \(table: Self.table) (key text PRIMARY KEY, value bytea NOT NULL)"]
      + (contents.map { ($0.key, $0.content) } + [(Key.description, try description.binaryData())])
      .map { Self.set($0.0, $0.1) }
  }

  static let deletion: ServerText = "DROP TABLE \(table: table)"

  /// The statement that writes another state.
  func update() throws -> ServerText { Self.set(Key.description, try description.binaryData()) }

  private static func set(_ key: String, _ content: Data) -> ServerText {
    """
    INSERT INTO \(table: table) VALUES (\(text: key), \(data: content)) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value
    """
  }

  /// The greatest key that the backfill has reached in each table.
  static func progress(_ session: ServerSession) throws -> [String: Int64] {
    let data = try session.first(
      "SELECT value FROM \(table: table) WHERE key = \(literal: Key.progress)") { $0.data($1, 0) }
    guard let data else { return [:] }
    let values = try PropertyList(data: data, place: .store(session.url)).dictionaryValue ?? [:]
    return values.compactMapValues(\.integerValue)
  }

  static func write(_ progress: [String: Int64]) throws -> ServerText {
    set(Key.progress, try PropertyList.dictionary(progress.mapValues { .integer($0) }).binaryData())
  }

  /// The tables of the second model.
  func secondTables(_ catalog: StoreCatalog, _ session: ServerSession) throws -> [String] {
    let second = try ManagedObjectModel(withFlaws: ModelDescription(json: model, from: session.url))
    guard let twin = try catalog.serving(second, session) else { return [] }
    return twin.tableMap(of: second).tableDefinitions.map(\.name)
  }

  /// Whether a model is the second one.
  func isOne(of model: ManagedObjectModel) -> Bool {
    let own = try? ManagedObjectModel(withFlaws: ModelDescription(json: self.model, from: nil))
    return own?.fingerprints == model.fingerprints
  }

  /// The metadata of the second model.
  func metadata(_ second: ManagedObjectModel, _ metadata: StoreMetadata) -> StoreMetadata {
    var own = metadata
    own.placeNames = placeNames
    own.setModel(versionHashes: second.fingerprints.mapValues(\.bytes), versionIdentifiers: versionIdentifiers)
    return own
  }
}

extension OnlineRecord {
  /// The error for another migration of a store that serves two models.
  package func exclusion(at url: URL?) -> PersistenceError {
    PersistenceError(
      .migrationFailed, at: .store(url),
      "The store is being migrated online from '\(from)' to '\(to)'; a third version can't be served meanwhile.",
      fix: "Finish that migration with 'persist contract', or abandon it with 'persist abort'.")
  }
}

// MARK: Opening with the second model

extension StoreCatalog {
  /// The catalog for a program with a model: that of the second model if the store serves it.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if the store doesn't serve the second model yet.
  static func read(_ session: ServerSession, for model: ManagedObjectModel) throws -> StoreCatalog {
    let catalog = try StoreCatalog(session)
    return try catalog.record?.isOne(of: model) == true
      ? catalog : catalog.serving(model, session, mustServe: true) ?? catalog
  }

  /// The catalog of a second model; nil if the store has no record of it.
  ///
  /// - Parameter mustServe: Whether to reject a store whose backfill isn't complete.
  func serving(
    _ model: ManagedObjectModel, _ session: ServerSession, mustServe: Bool = false
  ) throws -> StoreCatalog? {
    guard isExpanded, let contents = try OnlineRecord.secondContents(session) else { return nil }
    let record = try OnlineRecord(session)
    guard let record else { return nil }
    let metadata = record.metadata(model, self.metadata)
    guard let own = try ModelRecord(metadata: metadata, at: session.url, reading: { contents[$0] }),
      own.isOne(of: model)
    else { return nil }
    guard !mustServe || record.state == .serving else {
      throw PersistenceError(
        .storeBusy, at: .store(session.url),
        "The store is being prepared for the version '\(record.to)', and doesn't serve it yet.",
        fix: "Run 'persist backfill' to its end, and open the store again.")
    }
    return serving(metadata, numberRows: record.numbers, record: own)
  }

  /// Whether the store has the record of an online migration.
  var isExpanded: Bool { schema.table(named: OnlineRecord.table) != nil }
}

extension OnlineRecord {
  fileprivate static func secondContents(_ session: ServerSession) throws -> [String: Data]? { try contents(session) }
}

extension PropertyRenames {
  private enum Key {
    static let entities = "entities"
    static let properties = "properties"
  }

  fileprivate init(_ list: PropertyList?) {
    self.init()
    func names(_ list: PropertyList?) -> [String: String] {
      list?.dictionaryValue?.compactMapValues(\.stringValue) ?? [:]
    }
    entities = names(list?.dictionaryValue?[Key.entities])
    properties = list?.dictionaryValue?[Key.properties]?.dictionaryValue?.mapValues { names($0) } ?? [:]
  }

  fileprivate var propertyList: PropertyList {
    .dictionary([
      Key.entities: .dictionary(entities.mapValues(PropertyList.string)),
      Key.properties: .dictionary(properties.mapValues { .dictionary($0.mapValues(PropertyList.string)) }),
    ])
  }
}

extension ModelRecord {
  /// Whether the record is that of a model.
  func isOne(of model: ManagedObjectModel) -> Bool { fingerprints == model.fingerprints }
}

extension StoreCatalog {
  /// The catalog of another model of the same store.
  package func serving(
    _ metadata: StoreMetadata, numberRows: [EntityNumbers.Row], record: ModelRecord?, schema: StoreSchema? = nil
  ) -> StoreCatalog {
    StoreCatalog(
      metadata: metadata, mark: mark, schema: schema ?? self.schema, numberRows: numberRows, record: record,
      canDropColumns: canDropColumns)
  }
}
