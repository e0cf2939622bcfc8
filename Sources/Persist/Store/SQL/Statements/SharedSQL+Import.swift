/// Comparing and writing what an import has collected in temporary tables.
extension SharedSQL {
  /// The file's number and the line of a row, if it was imported.
  ///
  /// - Parameter root: The index of the hierarchy's root.
  package static func importedSource(root: Int, key: Int64) -> SharedSQL {
    """
    SELECT file, line FROM \(.importedRows) \
    WHERE root = \(value: .integer(Int64(root))) AND key = \(value: .integer(key))
    """
  }

  /// A member that is listed more than once: owner and member.
  ///
  /// - Parameter onlyOneOwner: whether a member may be listed by one owner only.
  package static func repeatedMember(_ relationship: Int, onlyOneOwner: Bool) -> SharedSQL {
    let owner: SharedSQL = onlyOneOwner ? "" : "owner, "
    return """
      SELECT MIN(owner), member FROM \(.importedMembers) WHERE relationship = \(number: Int64(relationship)) \
      AND place >= 0 GROUP BY \(owner)member HAVING COUNT(*) > 1 LIMIT 1
      """
  }

  /// The number of members that the import lists.
  package static func importedMemberCount(_ relationship: Int) -> SharedSQL {
    """
    SELECT COUNT(*) FROM \(.importedMembers) WHERE relationship = \(number: Int64(relationship)) AND place >= 0
    """
  }

  /// The number of members that owners of the import have in the store.
  package static func storedMemberCount(_ relationship: Int, in table: String, owner: String) -> SharedSQL {
    """
    SELECT COUNT(*) FROM \(name: table) WHERE \(name: owner) IN (\(statedOwners(relationship)))
    """
  }

  /// A member in the store that its owner doesn't list: owner and member.
  package static func unlistedMember(
    _ relationship: Int, in table: String, owner: String, member: String
  ) -> SharedSQL {
    """
    SELECT t.\(name: owner), t.\(name: member) FROM \(name: table) AS t \
    WHERE t.\(name: owner) IN (\(statedOwners(relationship))) AND NOT EXISTS ( \
    SELECT 1 FROM \(.importedMembers) WHERE relationship = \(number: Int64(relationship)) \
    AND owner = t.\(name: owner) AND place >= 0 AND member = t.\(name: member)) LIMIT 1
    """
  }

  /// A listed member whose own row names another owner, or that doesn't exist: owner, member and the member's key if
  /// it exists.
  package static func foreignMember(_ relationship: Int, in table: String, owner: String) -> SharedSQL {
    """
    SELECT m.owner, m.member, t.\(.key) FROM \(.importedMembers) AS m \
    LEFT JOIN \(name: table) AS t ON t.\(.key) = m.member \
    WHERE m.relationship = \(number: Int64(relationship)) AND m.place >= 0 \
    AND t.\(name: owner) \(.isNot) m.owner LIMIT 1
    """
  }

  /// Adds the listed members to a join table, in both directions if the relationship is its own inverse.
  package static func joinImported(_ relationship: Int, _ join: TableMap.JoinEnd) -> [SharedSQL] {
    func insert(_ first: SharedSQL, _ second: SharedSQL) -> SharedSQL {
      """
      \(.insertNew) \(name: join.table) (\(names: [join.ownColumn, join.memberColumn])) \
      SELECT \(first), \(second) FROM \(.importedMembers) \
      WHERE relationship = \(number: Int64(relationship)) AND place >= 0
      """
    }
    return [insert("owner", "member")] + (join.isReflexive ? [insert("member", "owner")] : [])
  }

  /// Makes the owners of a relationship without inverse those of its listed members.
  ///
  /// - Parameter owners: the owners' table.
  package static func ownImported(_ relationship: Int, _ place: TableMap.ForeignKey, owners: String) -> SharedSQL {
    let number: SharedSQL = place.entityColumn.map {
      ", \(name: $0) = (SELECT o.\(.entity) FROM \(name: owners) AS o WHERE o.\(.key) = m.owner)"
    } ?? ""
    return """
      UPDATE \(name: place.table) SET \(name: place.column) = m.owner\(number) FROM \(.importedMembers) AS m \
      WHERE m.relationship = \(number: Int64(relationship)) AND m.place >= 0 \
      AND \(name: place.table).\(.key) = m.member
      """
  }

  /// Writes the positions of the listed members.
  ///
  /// - Parameters:
  ///   - first: the position of the first member.
  ///   - distance: the distance between two members.
  package static func orderImported(
    _ relationship: Int, in columns: OrderColumns, first: Int64, distance: Int64
  ) -> SharedSQL {
    let (table, owner, member, order) = (columns.table, columns.owner, columns.member, columns.order)
    return """
      UPDATE \(name: table) \
      SET \(name: order) = \(number: first) + \(number: distance) * m.place \
      FROM \(.importedMembers) AS m WHERE m.relationship = \(number: Int64(relationship)) AND m.place >= 0 \
      AND \(name: table).\(name: member) = m.member AND \(name: table).\(name: owner) = m.owner
      """
  }

  /// Appends members without a position to those that have one.
  ///
  /// - Parameters: as in ``orderImported(_:in:first:distance:)``.
  package static func appendUnordered(in columns: OrderColumns, first: Int64, distance: Int64) -> SharedSQL {
    let (table, owner, member, order) = (columns.table, columns.owner, columns.member, columns.order)
    return """
      WITH unordered (owner, member, place) AS (SELECT u.\(name: owner), u.\(name: member), \
      (SELECT \(.ifNull)(MAX(o.\(name: order)), \(number: first - distance)) \
      FROM \(name: table) AS o WHERE o.\(name: owner) = u.\(name: owner)) \
      + \(number: distance) * ROW_NUMBER() OVER (PARTITION BY u.\(name: owner) ORDER BY u.\(name: member)) \
      FROM \(name: table) AS u WHERE u.\(name: owner) IS NOT NULL AND u.\(name: order) IS NULL) \
      UPDATE \(name: table) SET \(name: order) = u.place FROM unordered AS u \
      WHERE \(name: table).\(name: owner) = u.owner AND \(name: table).\(name: member) = u.member
      """
  }

  private static func statedOwners(_ relationship: Int) -> SharedSQL {
    """
    SELECT owner FROM \(.importedMembers) WHERE relationship = \(number: Int64(relationship)) AND place = -1
    """
  }
}

/// The columns with the order of a relationship's members.
package struct OrderColumns: Sendable, Equatable {
  package let table: String
  /// The column with the owner's key.
  package let owner: String
  /// The column with the member's key.
  package let member: String
  package let order: String

  package init(table: String, owner: String, member: String, order: String) {
    self.table = table
    self.owner = owner
    self.member = member
    self.order = order
  }
}
