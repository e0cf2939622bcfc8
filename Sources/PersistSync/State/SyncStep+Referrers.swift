import Foundation
import Persist

/// The objects that refer to others.
///
/// Entries lead to them from the objects they refer to, unless the rows show it: those that arrive with an object they
/// refer to need none. Each row that doesn't show the reference of its object has an entry, also one whose reference
/// was shown until the object that it names got another row or none.
extension SyncStep {
  /// The objects that may refer to an object.
  func referrers(to identity: Identity) throws -> Set<Identity> {
    let named = try tables.referrers(to: identity)
    return try named.union(tables.row(of: identity).map { try objects(referringTo: $0) } ?? [])
  }

  /// Records the row of an object. The references that led to its former row have entries from now on.
  func setRow(of identity: Identity, to row: SyncTables.RowID?) throws {
    if let former = try tables.row(of: identity), former != row {
      for other in try objects(referringTo: former) { tables.addReferrer(other, to: identity) }
    }
    try tables.setRow(of: identity, to: row)
  }

  /// The objects whose rows refer to a row, as the store has them, through relationships that have an inverse.
  private func objects(referringTo row: SyncTables.RowID) throws -> Set<Identity> {
    if let known = referring[row] { return known }
    guard let entity = model.entitiesByName[row.entity] else { return [] }
    var rows: [SyncTables.RowID] = []
    for relationship in schema[entity].relationships where relationship.isShownByMembers {
      rows += try store.members(relationship, of: entity, row.key)
    }
    try tables.loadIdentities(of: rows)
    let all = Set(try rows.flatMap { try tables.identities(of: $0) })
    referring[row] = all
    return all
  }
}

extension SyncSchema.Relationship {
  /// Whether the members' rows have the relationship as a reference.
  var isShownByMembers: Bool { isToMany && inverse?.isToMany == false }
}
