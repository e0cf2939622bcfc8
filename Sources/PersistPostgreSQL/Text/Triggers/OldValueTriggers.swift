import Persist

/// The triggers that keep the old values of a history.
///
/// They run at the end of the transaction, when its number in the history is known, so that each value is written once.
/// They do nothing in transactions of other programs, and in those that the history doesn't record.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/sql-createtrigger.html>
enum OldValueTriggers {
  static let prefix = "PERSIST_OLD_"
  /// The setting of a transaction whose old values are kept: the schema of its store.
  static let storeSetting = "persist.old_values"
  /// The setting with the number of the transaction in the history.
  static let numberSetting = "persist.transaction"

  private static let values: ServerText = "\(name: OldValuesLayout.valueTable)"
  private static let members: ServerText = "\(name: OldValuesLayout.memberTable)"
  private static let valueColumns: ServerText = "transactionid, entity, rowkey, columnname, value"
  private static let memberColumns: ServerText =
    "transactionid, relationship, owner, member, ownerentity, memberentity, change"

  /// Keeps old values from now on until the end of the transaction, as part of a `SELECT`.
  static func begin(in schema: String) -> ServerText {
    "set_config(\(literal: storeSetting), \(text: schema), true)"
  }

  /// Names the transaction, whose number is in a column, as part of a `SELECT`.
  static func name(byNumberIn column: ServerText) -> ServerText {
    "set_config(\(literal: numberSetting), \(column)::text, true)"
  }

  /// The columns of a table.
  private struct Columns {
    let kinds: [String: ServerTerms.Kind]
    let read: [String: ServerReadColumn]

    func isLarge(_ group: [String]) -> Bool { group.contains { kinds[$0] == .bytes } }

    func kept(_ column: String) -> ServerText {
      let kind = kinds[column] ?? .bytes
      switch read[column] {
      // As text or number, in any case.
      case nil, .decimal, .moment: return kind.kept(term: "OLD.\(name: column)")
      case let completed?: return kind.kept(term: "(\(completed.value(of: column, "OLD", findingTables: true)))")
      }
    }
  }

  /// All triggers of a store.
  static func all(in map: TableMap) -> [ServerTrigger] {
    Builder(map, OldValuesLayout(map), prefix: prefix).triggers
  }

  /// The triggers for a second model that a store serves, beside ``all(in:)`` for the first.
  ///
  /// Old values are kept under the names of the first model, unless only the second has the column.
  static func additional(_ expansion: HistoryExpansion) -> [ServerTrigger] {
    var builder = Builder(expansion.second, expansion.additionalOldValues, prefix: OnlineTriggers.prefix + prefix)
    builder.addAssignments(of: expansion.pairs, OldValuesLayout(expansion.first), in: expansion.first)
    return builder.triggers
  }

  /// Makes the triggers of a layout.
  private struct Builder {
    private(set) var triggers: [ServerTrigger] = []
    private let prefix: String
    private var counts: [String: Int] = [:]

    init(_ map: TableMap, _ layout: OldValuesLayout, prefix: String) {
      self.prefix = prefix
      let (kinds, read) = (map.serverKinds, map.serverReadColumns)
      for table in layout.tables {
        let columns = Columns(kinds: kinds[table.name] ?? [:], read: read[table.name] ?? [:])
        let (large, small) = (table.groups.filter(columns.isLarge), table.groups.filter { !columns.isLarge($0) })
        if !small.isEmpty {
          add(.update(of: []), on: table.name, small.map { keepChanged($0, columns) }, unless: isNoObject)
        }
        // To compare large values, the server reads them: only if the statement assigns them.
        for group in large {
          add(.update(of: group), on: table.name, [keepChanged(group, columns)], unless: isNoObject)
        }
        add(.delete, on: table.name, [keepAll(table.groups.flatMap(\.self), columns)], unless: isNoObject)
      }
      for relationship in layout.relationships {
        switch relationship.place {
        case .join(let table, let owner, let member):
          add(.insert, on: table, [keep(1, of: "NEW.\(name: owner)", member: "NEW.\(name: member)", in: relationship)])
          add(.delete, on: table, [keep(-1, of: "OLD.\(name: owner)", member: "OLD.\(name: member)", in: relationship)])
        case .column(let column):
          let change = changes(of: column, relationship)
          add(.update(of: [column]), on: relationship.member.table, [change.removed, change.added])
          add(.delete, on: relationship.member.table, [change.removed])
        }
      }
      if let action = addMissingNumbers(of: layout.relationships) {
        add(.insert, on: OldValuesLayout.memberTable, [action], unless: " OR NEW.transactionid IS DISTINCT FROM number")
      }
    }

    /// Adds triggers for statements that assign only the other one of two columns with the same values, where those of
    /// a layout run only after an assignment.
    mutating func addAssignments(
      of pairs: [(table: String, first: String, second: String)], _ layout: OldValuesLayout, in map: TableMap
    ) {
      let (kinds, read) = (map.serverKinds, map.serverReadColumns)
      func others(_ columns: [String], of table: String) -> [String] {
        pairs.filter { $0.table == table && columns.contains($0.first) }.map(\.second)
      }
      for table in layout.tables {
        let columns = Columns(kinds: kinds[table.name] ?? [:], read: read[table.name] ?? [:])
        for group in table.groups where columns.isLarge(group) {
          let others = others(group, of: table.name)
          guard !others.isEmpty else { continue }
          add(.update(of: others), on: table.name, [keepChanged(group, columns)], unless: isNoObject)
        }
      }
      for relationship in layout.relationships {
        guard case .column(let column) = relationship.place else { continue }
        let others = others([column], of: relationship.member.table)
        guard !others.isEmpty else { continue }
        let change = changes(of: column, relationship)
        add(.update(of: others), on: relationship.member.table, [change.removed, change.added])
      }
    }

    private mutating func add(
      _ event: ServerTrigger.Event, on table: String, _ actions: [ServerText], unless condition: ServerText = ""
    ) {
      counts[table, default: 0] += 1
      let body = ([ServerText.start(unless: condition)] + actions + ["RETURN NULL; END"]).joined(separator: " ")
      triggers.append(
        ServerTrigger(
          name: "\(prefix)\(table)_\(counts[table] ?? 0)", table: table, event: event, setting: storeSetting,
          body: body.statement(in: "").text))
    }
  }

  /// A row whose entity isn't known isn't an object.
  private static let isNoObject: ServerText = " OR OLD.entity IS NULL"

  // MARK: Values

  /// Keeps the values of a group of columns if one of them changed.
  private static func keepChanged(_ group: [String], _ columns: Columns) -> ServerText {
    let isChanged = group.map { "OLD.\(name: $0) IS DISTINCT FROM NEW.\(name: $0)" as ServerText }
      .joined(separator: " OR ")
    let rows = group.map { "(number, OLD.entity, OLD.id, \(literal: $0), \(columns.kept($0)))" as ServerText }
    return """
      IF \(isChanged) THEN INSERT INTO \(values) (\(valueColumns)) VALUES \(rows.joined(separator: ", ")) \
      ON CONFLICT DO NOTHING; END IF;
      """
  }

  /// Keeps all values of a row that aren't null, and its version.
  private static func keepAll(_ names: [String], _ columns: Columns) -> ServerText {
    let all = (names + [OldValuesLayout.versionColumn]).map { name in
      "(\(literal: name), \(columns.kept(name)))" as ServerText
    }
    return """
      INSERT INTO \(values) (\(valueColumns)) SELECT number, OLD.entity, OLD.id, k.c, k.v \
      FROM (VALUES \(all.joined(separator: ", "))) AS k(c, v) WHERE k.v IS NOT NULL ON CONFLICT DO NOTHING;
      """
  }

  // MARK: Members

  /// The actions for a column that contains the owner's key.
  private static func changes(
    of column: String, _ relationship: OldValuesLayout.Relationship
  ) -> (removed: ServerText, added: ServerText) {
    (
      keep(-1, of: "OLD.\(name: column)", member: "OLD.id", in: relationship, memberNumber: "OLD.entity"),
      keep(1, of: "NEW.\(name: column)", member: "NEW.id", in: relationship, memberNumber: "NEW.entity")
    )
  }

  private static func keep(
    _ change: Int64, of owner: ServerText, member: ServerText, in relationship: OldValuesLayout.Relationship,
    memberNumber: ServerText? = nil
  ) -> ServerText {
    """
    INSERT INTO \(members) (\(memberColumns)) SELECT number, \(literal: relationship.name), \(owner), \(member), \
    \(entityNumber(of: owner, relationship.owner)), \
    \(memberNumber ?? entityNumber(of: member, relationship.member)), \(number: change) \
    WHERE \(owner) IS NOT NULL AND \(member) IS NOT NULL \
    ON CONFLICT (transactionid, relationship, owner, member) \
    DO UPDATE SET change = \(members).change + excluded.change;
    """
  }

  private static func entityNumber(of key: ServerText, _ end: OldValuesLayout.Relationship.End) -> ServerText {
    end.number.map { "\(number: Int64($0))" } ?? "(SELECT entity FROM \(name: end.table) WHERE id = \(key))"
  }

  /// Adds the entity numbers of rows that the transaction deleted, from the versions that are kept of them. Triggers of
  /// the table of members run after all others.
  ///
  /// - Returns: Nil if all numbers are known without reading a row.
  private static func addMissingNumbers(of relationships: [OldValuesLayout.Relationship]) -> ServerText? {
    guard relationships.contains(where: { $0.owner.number == nil || $0.member.number == nil }) else { return nil }
    func number(of key: ServerText, _ ends: [OldValuesLayout.Relationship.End]) -> ServerText {
      let cases = zip(relationships, ends).map { relationship, end -> ServerText in
        "WHEN \(literal: relationship.name) THEN ARRAY[\(numbers: end.numbers)]::bigint[]"
      }
      return """
        (SELECT max(v.entity) FROM \(values) AS v WHERE v.transactionid = number AND v.rowkey = \(key) \
        AND v.columnname = \(literal: OldValuesLayout.versionColumn) \
        AND v.entity = ANY(CASE NEW.relationship \(cases.joined(separator: " ")) END))
        """
    }
    return """
      IF NEW.ownerentity IS NULL OR NEW.memberentity IS NULL THEN UPDATE \(members) AS m \
      SET ownerentity = coalesce(NEW.ownerentity, \(number(of: "NEW.owner", relationships.map(\.owner)))), \
      memberentity = coalesce(NEW.memberentity, \(number(of: "NEW.member", relationships.map(\.member)))) \
      WHERE m.transactionid = number AND m.relationship = NEW.relationship AND m.owner = NEW.owner \
      AND m.member = NEW.member; END IF;
      """
  }
}

extension ServerText {
  /// The beginning of a function, which returns in transactions of which nothing is kept.
  ///
  /// - Parameter condition: A further reason to keep nothing of a row, after an `OR`.
  fileprivate static func start(unless condition: ServerText) -> ServerText {
    // The schema may be renamed. Setting the path for each row would take a third of the time that a kept value takes.
    """
    DECLARE number bigint := nullif(current_setting(\(literal: OldValueTriggers.numberSetting), true), '')::bigint; \
    BEGIN IF number IS NULL \
    OR current_setting(\(literal: OldValueTriggers.storeSetting), true) IS DISTINCT FROM TG_TABLE_SCHEMA::text\
    \(condition) THEN RETURN NULL; END IF; \
    IF current_setting('search_path') <> quote_ident(TG_TABLE_SCHEMA) || ', pg_temp' THEN \
    PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA) || ', pg_temp', true); END IF;
    """
  }
}
