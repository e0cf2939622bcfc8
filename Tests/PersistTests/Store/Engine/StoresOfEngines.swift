import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

#if canImport(PersistPostgreSQL)
  @testable import PersistPostgreSQL
#endif

/// Creates a store of the location's engine.
func createStore(
  at url: URL, model: ManagedObjectModel, options: StoreOptions = StoreOptions()
) throws -> any PersistentStore {
  let location = StoreLocation(url)
  return try location.engine.createStore(at: location, model: model, options: options)
}

/// Opens a store of the location's engine.
func openStore(
  at url: URL, model: ManagedObjectModel, options: StoreOptions = StoreOptions()
) throws -> any PersistentStore {
  let location = StoreLocation(url)
  return try location.engine.openStore(at: location, model: model, options: options, allowsGaps: false)
}

/// Looks for damage in a store of either engine.
func checkStore(at url: URL, registry: ModelRegistry? = nil, _ report: (StoreProblem) throws -> Void) throws {
  try StoreLocation(url).check(registry: registry, report)
}

extension PersistentStore {
  /// The number of statements that the store has run; on a server, the number of round trips, of which most have one.
  var statementCount: Int {
    if let store = self as? SQLiteStore { return store.pool.counts.executed }
    #if canImport(PersistPostgreSQL)
      if let store = self as? PostgreSQLStore { return CountedServer.flights(of: store.pool.address) }
    #endif
    if let store = self as? RecordingStore { return store.store.statementCount }
    return 0
  }
}

extension StoreType {
  /// The type of the stores that ``withTemporaryStore(_:)`` makes.
  static var ofTests: StoreType { TestEngine.current == .sqlite ? .sqlite : .postgreSQL }
}

/// All rows of a store with their keys, versions, values and members, as text.
func storedContents(at location: StoreLocation, includingDerived: Bool = true) throws -> [String] {
  let identified = try location.engine.identifyStore(at: location, registry: nil)
  let store = try location.engine.openStore(
    at: location, model: identified.model, options: StoreOptions(isReadOnly: true), allowsGaps: false)
  defer { try? store.close() }
  let transfer = StoreTransfer(store, to: store.identifier)
  var lines: [String] = []
  while let slice = try transfer.next() {
    for (insert, members) in zip(slice.inserts, slice.members) {
      let values = insert.entity.properties.compactMap { property -> String? in
        guard includingDerived || property.attribute?.isDerived != true else { return nil }
        return "\(property.name)=\(insert.values[property.slot].map(words) ?? "")"
      }
      let lists = members.map { "\(insert.entity.properties[$0.slot].name): \($0.keys)" }
      lines.append("\(insert.entity.name) \(insert.key) \(insert.version) \(values) \(lists)")
    }
  }
  return lines
}

private func words(_ value: StoredValue) -> String {
  switch value {
  case .data(let data): "\(data.count) bytes, \(SHA256.digest(Array(data)).prefix(8))"
  case .composite(let elements): "\(elements.sorted { $0.key < $1.key }.map { "\($0.key): \(words($0.value))" })"
  default: "\(value)"
  }
}

/// Copies with everything that is parked.
extension StoreCopies {
  private static var parked: ParkedCopying { .copied(by: ParkedTransfer(nil)) }

  static func replaceStore(at location: StoreLocation, with source: StoreLocation) throws {
    try replaceStore(at: location, with: source, parked: parked)
  }

  static func withCopy(
    of source: StoreLocation, beside location: StoreLocation,
    _ body: (_ copy: StoreLocation, _ original: CopiedState) throws -> Void
  ) throws {
    try withCopy(of: source, beside: location, parked: parked, body)
  }

  static func backUp(_ store: any PersistentStore, to location: StoreLocation) throws {
    try backUp(store, to: location, parked: parked)
  }

  static func move(
    _ store: any PersistentStore, to location: StoreLocation, options: StoreOptions,
    replace: (any PersistentStore) -> Void
  ) throws -> any PersistentStore {
    try move(store, to: location, options: options, parked: parked, replace: replace)
  }
}
