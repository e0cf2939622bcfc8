import Foundation
import Persist
import PersistPostgreSQL

/// The two models of an online migration, with the way from the first to the second, the way back, and the tables and
/// columns that the second needs beside the first.
struct OnlineModels {
  let forward: OnlineSurvey
  let backward: OnlineSurvey
  let expansion: OnlineExpansion
  let refusals: [OnlineRefusal]
  private let collisions: Set<PlaceCollision>
  /// The store's catalog with the first model.
  let catalog: StoreCatalog

  /// Whether both models can be served.
  var isComplete: Bool { refusals.isEmpty && collisions.isEmpty }
  var first: TableMap { forward.map }
  var second: TableMap { backward.map }

  /// The renames that a history follows: not those of attributes with other values in each model.
  var renames: PropertyRenames {
    var renames = forward.renames
    for entity in second.model.entities {
      guard let old = forward.source(of: entity)?.name else { continue }
      let computed = Set(expansion.formulas.filter { $0.side == .second }.map(\.label))
      renames.properties[old] = renames.properties[old]?.filter { !computed.contains("\(entity.name).\($0.value)") }
    }
    return renames
  }

  /// The models of a store before its expansion.
  ///
  /// - Parameter store: The store with its model.
  init(_ store: IdentifiedStore, to version: ModelVersion, _ resources: OnlineResources) throws {
    var names = PlaceNames()
    var models = try OnlineModels(store, to: version, names: names, resources: resources)
    // Other names can lead to further collisions, for example of derived attributes.
    while !models.collisions.isEmpty {
      for collision in models.collisions { models.resolve(collision, in: &names) }
      models = try OnlineModels(store, to: version, names: names, resources: resources)
    }
    self = models
  }

  /// - Parameter names: The names of the second model's tables and columns that differ from those of the rules.
  private init(
    _ store: IdentifiedStore, to version: ModelVersion, names: PlaceNames, resources: OnlineResources
  ) throws {
    let registry = resources.registry
    forward = try OnlineSurvey(store, to: version, numbers: nil, names: names, registry: registry)
    catalog = store.catalog
    // The second model in a store of its own: its tables, and those that every store has.
    let own = Places(forward.map)
    let tables = forward.planned.tableDefinitions.map { table in
      StoreSchema.Table(
        name: table.name,
        columns: table.columns.map { .init(name: $0.name, declaredType: $0.type.rawValue) }, keys: [table.primaryKey])
    }
    let schema = StoreSchema(
      tables: tables + store.catalog.schema.tables.filter { own.columns[$0.name.foldedIdentifier] == nil },
      names: .snakeCase)
    let twin = try Self.catalog(
      of: version.model, numbers: forward.numbers, schema: schema, names, beside: store.catalog, at: nil)
    backward = try OnlineSurvey(
      Self.identify(twin, as: version, at: nil), to: forward.source, numbers: store.catalog.numberRows,
      names: store.metadata.placeNames, registry: registry, isReturn: true)
    let planner = ExpansionPlanner(
      forward, backward: backward, mappings: try resources.mappings(between: forward.source, and: version))
    (expansion, refusals, collisions) = (planner.expansion, planner.refusals, planner.collisions)
  }

  /// Gives a table or column of the second model a name that neither model uses.
  private func resolve(_ collision: PlaceCollision, in names: inout PlaceNames) {
    let rules = LayoutNames.snakeCase
    func free(_ rule: String, besides taken: Set<String>) -> String {
      var number = 1
      while taken.contains(rules.repeated(rule, number).foldedIdentifier) { number += 1 }
      return rules.repeated(rule, number)
    }
    switch collision {
    case .table(let rule, let actual):
      var taken = Set(catalog.schema.tables.map(\.name.foldedIdentifier))
      for places in [Places(forward.map), Places(forward.planned)] { taken.formUnion(places.columns.keys) }
      names[rule] = actual ?? free(rule, besides: taken)
    case .column(let table, let rule):
      let present = catalog.schema.table(named: table)?.columns ?? []
      var taken = Set(present.map(\.name.foldedIdentifier))
      for places in [Places(forward.map), Places(forward.planned)] {
        taken.formUnion(places.columns[table.foldedIdentifier] ?? [])
      }
      names[table, rule] = free(rule, besides: taken)
    }
  }

  /// The models of an expanded store.
  ///
  /// - Parameters:
  ///   - found: The store with its first model.
  ///   - twin: The catalog of the second model.
  ///   - resources: Those with which the store was expanded.
  init(
    _ found: IdentifiedStore, beside twin: StoreCatalog, by record: OnlineRecord, to version: ModelVersion,
    _ resources: OnlineResources, at url: URL?
  ) throws {
    let registry = resources.registry
    let source = found.version ?? ModelVersion(name: record.from, model: found.model)
    let places = (Places(found.tableMap), Places(twin.tableMap(of: version.model)))
    let first = found.catalog.serving(
      found.catalog.metadata, numberRows: found.catalog.numberRows, record: found.catalog.record,
      schema: places.1.hidden(from: found.catalog.schema, besides: places.0))
    let second = twin.serving(
      twin.metadata, numberRows: twin.numberRows, record: twin.record,
      schema: places.0.hidden(from: twin.schema, besides: places.1))
    catalog = first
    forward = try OnlineSurvey(
      Self.identify(first, as: source, at: url), to: version, numbers: record.numbers, names: record.placeNames,
      registry: registry)
    backward = try OnlineSurvey(
      Self.identify(second, as: version, at: url), to: source, numbers: found.catalog.numberRows,
      names: found.metadata.placeNames, registry: registry, isReturn: true)
    let planner = ExpansionPlanner(
      forward, backward: backward, mappings: try resources.mappings(between: forward.source, and: version))
    (expansion, refusals, collisions) = (planner.expansion, planner.refusals, planner.collisions)
  }

  private static func identify(
    _ catalog: StoreCatalog, as version: ModelVersion, at url: URL?
  ) throws -> IdentifiedStore {
    try StoreIdentification.identify(catalog, at: url, registry: ModelRegistry(versions: [version])) { .none }
  }

  /// The catalog of a model in a store that has it alone.
  private static func catalog(
    of model: ManagedObjectModel, numbers: [EntityNumbers.Row], schema: StoreSchema, _ names: PlaceNames,
    beside catalog: StoreCatalog, at url: URL?
  ) throws -> StoreCatalog {
    var metadata = catalog.metadata
    metadata.placeNames = names
    metadata.setModel(
      versionHashes: model.fingerprints.mapValues(\.bytes), versionIdentifiers: model.versionIdentifiers)
    let contents = Dictionary(
      try ModelRecord.contents(
        fingerprints: model.fingerprints, modelText: Data(model.description.json.utf8), metadata: metadata
      ).map { ($0.key, $0.content) }, uniquingKeysWith: { first, _ in first })
    let record = try ModelRecord(metadata: metadata, at: url) { contents[$0] }
    return catalog.serving(metadata, numberRows: numbers, record: record, schema: schema)
  }
}

/// The resources of an online migration besides the models.
struct OnlineResources {
  let registry: ModelRegistry?
  /// Mapping models built in code; they take precedence over those in files.
  let mappingModels: [MappingModel]

  /// The mapping models for both ways between two versions; nil where there is none.
  func mappings(
    between first: ModelVersion, and second: ModelVersion
  ) throws -> (forward: MappingModel?, backward: MappingModel?) {
    (try mapping(from: first, to: second), try mapping(from: second, to: first))
  }

  private func mapping(from source: ModelVersion, to destination: ModelVersion) throws -> MappingModel? {
    let built = mappingModels.filter { $0.isFor(from: source, to: destination) }
    let found = try built.isEmpty ? registry?.readMappingModels(from: source, to: destination) ?? [] : built
    // Several files are parts of one mapping model.
    guard var whole = found.first else { return nil }
    whole.entityMappings = found.flatMap(\.entityMappings)
    return whole
  }
}

/// The tables, columns and indexes of a model, by folded names.
struct Places {
  private(set) var columns: [String: Set<String>] = [:]
  private let indexes: Set<String>

  init(_ map: TableMap) {
    for table in map.tableDefinitions {
      columns[table.name.foldedIdentifier] = Set(table.columns.map(\.name.foldedIdentifier))
    }
    indexes = Set(map.indexDefinitions.map(\.name.foldedIdentifier))
  }

  /// The tables that another model doesn't have.
  func tables(besides other: Places) -> [String] { columns.keys.filter { other.columns[$0] == nil }.sorted() }

  /// The columns that another model doesn't have, of tables that both have.
  func columns(besides other: Places) -> [(table: String, column: String)] {
    columns.sorted { $0.key < $1.key }.flatMap { table, names in
      other.columns[table].map { shared in names.subtracting(shared).sorted().map { (table, $0) } } ?? []
    }
  }

  /// A schema without what only this model has.
  func hidden(from schema: StoreSchema, besides other: Places) -> StoreSchema {
    let own = Dictionary(grouping: columns(besides: other), by: \.table).mapValues { Set($0.map(\.column)) }
    return schema.hiding(tables: Set(tables(besides: other)), columns: own) { name in
      let name = name.foldedIdentifier
      return name.hasPrefix(ExpansionPlanner.temporaryPrefix)
        || indexes.contains(name) && !other.indexes.contains(name)
    }
  }
}

/// The columns of the second model that programs with the first never write, and that nothing computes from theirs.
struct OwnPlaces {
  private let first: Places
  private let second: Places
  private let copied: Set<[String]>
  private let joins: Set<String>

  init(_ models: OnlineModels) {
    (first, second) = (Places(models.first), Places(models.second))
    let expansion = models.expansion
    var copied = expansion.pairs.map { [$0.table, $0.second] }
    copied += expansion.formulas.filter { $0.side == .second }.map { [$0.table, $0.column.name] }
    copied += expansion.composites.flatMap { composite in
      composite.second.parts.filter { $0.counterpart != nil }.map { [composite.table, $0.column.name] }
    }
    copied += expansion.references.flatMap { reference in reference.second.columns.map { [reference.table, $0] } }
    copied += expansion.keyJoins.filter { $0.side == .second }.map { [$0.table, $0.key] }
    self.copied = Set(copied.map { $0.map(\.foldedIdentifier) })
    joins = Set(
      (expansion.joins.map(\.second.name) + expansion.keyJoins.filter { $0.side == .first }.map(\.join.name))
        .map(\.foldedIdentifier))
  }

  func contains(_ table: String, _ column: String) -> Bool {
    let (table, column) = (table.foldedIdentifier, column.foldedIdentifier)
    // The key of a row belongs to both models.
    if column == "z_pk" { return true }
    guard second.columns[table]?.contains(column) == true, !joins.contains(table) else { return false }
    return first.columns[table]?.contains(column) != true && !copied.contains([table, column])
  }
}

extension StoreSchema {
  /// The schema without some tables, columns and indexes, and without the indexes over such columns.
  ///
  /// - Parameters:
  ///   - columns: The columns to leave out, by the folded names of their tables.
  ///   - isHidden: Whether to leave out an index by its name.
  func hiding(
    tables hidden: Set<String>, columns: [String: Set<String>], indexes isHidden: (String) -> Bool
  ) -> StoreSchema {
    func gone(_ table: String) -> Set<String> { columns[table.foldedIdentifier] ?? [] }
    let remaining = tables.filter { !hidden.contains($0.name.foldedIdentifier) }
    return StoreSchema(
      tables: remaining.map { table in
        let names = gone(table.name)
        guard !names.isEmpty else { return table }
        return Table(
          name: table.name, columns: table.columns.filter { !names.contains($0.name.foldedIdentifier) },
          sql: table.sql, keys: table.keys)
      },
      indexes: indexes.filter { index in
        !hidden.contains(index.table.foldedIdentifier) && !isHidden(index.name)
          && !gone(index.table).contains { SQLTokens.mentions($0, in: index.sql ?? "") }
      },
      triggers: triggers.filter { !hidden.contains($0.table.foldedIdentifier) }, views: views, names: names)
  }
}
