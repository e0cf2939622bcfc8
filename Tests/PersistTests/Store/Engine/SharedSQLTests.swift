#if canImport(PersistPostgreSQL)
  import Foundation
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel
  @testable import PersistPostgreSQL

  /// A server gets the same statements as a file, word for word: the text of a file, translated by
  /// `ServerText+FileSQL.swift`, is the server's, apart from quotation marks around names that need none.
  @Suite("Statements that engines share")
  struct SharedSQLTests {
    private func expectSameMeaning(_ statements: [SharedSQL], _ source: SourceLocation = #_sourceLocation) {
      #expect(!statements.isEmpty, sourceLocation: source)
      var (seen, literals): (Set<String>, Set<String>) = ([], [])
      for sql in statements {
        for case .text(let literal) in sql.parts where literals.insert("\(literal)").inserted {
          #expect(isSameForAll("\(literal)"), "\(literal)", sourceLocation: source)
        }
        let file = SQLText(sql)
        guard seen.insert(file.text).inserted else { continue }
        let own = ServerText(sql).statement(in: "Store")
        let translated = ServerText(translating: withServerTime(file)).statement(in: "Store")
        #expect(
          own.text == translated.text || plain(own.text) == plain(translated.text), "\(file.text)",
          sourceLocation: source)
        #expect(own.parameters.map(\.bytes) == translated.parameters.map(\.bytes), sourceLocation: source)
        #expect(own.parameters.map(\.type) == translated.parameters.map(\.type), sourceLocation: source)
      }
    }

    /// Whether a literal has nothing that only SQLite understands, or that PostgreSQL understands otherwise.
    private func isSameForAll(_ literal: String) -> Bool {
      let words = literal.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
      return !["\"", "?", "x'"].contains { literal.contains($0) }
        && !literal.replacing("IS NOT NULL", with: "").contains("IS NOT ")
        && !words.contains { $0.hasPrefix("Z") || $0.hasPrefix("Persist") || Self.ownWords.contains(String($0)) }
    }

    private static let ownWords: Set<String> = [
      "BLOB", "CROSS", "IFNULL", "IGNORE", "INTEGER", "ROWID", "json_each", "julianday", "main", "rowid", "temp",
      "typeof",
    ]

    /// The translation knows no functions for the present time.
    private func withServerTime(_ sql: SQLText) -> SQLText {
      let now = SQLText("\(.now)" as SharedSQL).text
      let serverNow = ServerText("\(.now)" as SharedSQL).statement(in: "").text
      return SQLText(checked: sql.text.replacing(now, with: serverNow)).binding(sql.values)
    }

    private func plain(_ text: String) -> String {
      text.replacing(/"?(persist_[a-z_]+)"?/.ignoresCase()) { $0.1.lowercased() }.replacing("E'", with: "'")
        .trimmingCharacters(in: .whitespaces)
    }

    @Test("Each part of a statement has its form in each dialect")
    func dialects() {
      let sql: SharedSQL = """
        \(.insertNew) \(name: "ZITEM") (\(.key), \(names: ["ZTITLE", "it's"])) \
        SELECT \(.ifNull)(\(.greatestKey), \(number: -3)), \(value: .text("a")), \(literal: "it's \\") \
        FROM \(.entities) \
        WHERE \(.entity) IN (\(numbers: [1, 2])) AND \(row: SQLRow(number: 4)).\(.version) \(.isNot) \(value: .null) \
        AND \(.key) \(isOneOf: [5, 6]) OR \(name: "ZDATA") = \(byte: 10) AND \(values: [.integer(7), .double(0.5)])
        """
      let file = SQLText(sql)
      #expect(
        file.text == """
          INSERT OR IGNORE INTO ZITEM (Z_PK, ZTITLE, "it's") \
          SELECT IFNULL(Z_MAX, -3), ?, 'it''s \\' FROM Z_PRIMARYKEY \
          WHERE Z_ENT IN (1, 2) AND r4.Z_OPT IS NOT ? \
          AND Z_PK IN (SELECT value FROM json_each(?)) OR ZDATA = x'0A' AND ?, ?
          """)
      #expect(file.values == [.text("a"), .null, .text("[5,6]"), .integer(7), .double(0.5)])
      let server = ServerText(sql).statement(in: "Store")
      #expect(
        server.text == """
          INSERT INTO "zitem" ("id", "ztitle", "it's") \
          SELECT COALESCE("greatest_key", -3), $1::text, E'it''s \\\\' FROM "persist_entity" \
          WHERE "entity" IN (1, 2) AND r4."version" IS DISTINCT FROM NULL \
          AND "id" = ANY ($2::bigint[]) OR "zdata" = '\\x0a'::bytea AND $3::bigint, $4::float8 ON CONFLICT DO NOTHING
          """)
      #expect(server.parameters.map(\.type) == [.text, .integers, .integer, .double])
    }

    @Test("Statements of changes in place, for every kind of change", arguments: ChangeKind.all)
    func changes(_ kind: ChangeKind) throws {
      try expectSameMeaning(statements(from: kind.old, to: kind.new))
    }

    @Test("Statements of the migrations of real chains", .needsSharedData)
    func realChains() throws {
      for folder in ["wallet", "bookmarks", "employees", "moody/Moody.xcdatamodeld", "posts/Model"] {
        let versions = try ModelRegistry(contentsOf: SharedData.url(folder)).versions
        for (old, new) in zip(versions, versions.dropFirst()).suffix(3) {
          try expectSameMeaning(statements(from: old.model, to: new.model))
        }
      }
    }

    private static func shared(_ step: CheckStep) -> SharedSQL? {
      if case .shared(let sql) = step.query { sql } else { nil }
    }

    /// The statements that a migration, the check of the store, its history and an import would run.
    private func statements(from former: ManagedObjectModel, to new: ManagedObjectModel) throws -> [SharedSQL] {
      let (old, map) = (TableMap.forNewStore(former), TableMap.forNewStore(new))
      let comparison = try ModelComparison(from: former, to: new)
      let work = InPlacePlanner.plan(from: old, schema: StoreSchema(newStore: old), to: map, comparison: comparison)
      var all = work.changes.flatMap { SharedSQL.relationshipStatements($0.change) }
      all += work.checks.compactMap { SharedSQL.count($0.count) }
      all += CheckStep.steps(for: map).compactMap(Self.shared)
      let columns = try map.derivedColumns()
      all += columns.map { SharedSQL.fill($0) }
      all += columns.triggers(in: map.layout).map { SharedSQL.action(of: $0) }
      all += SharedSQL.pruneOldValues(to: OldValuesLayout(map))
      for relationship in ImportedRelationship.all(of: map) {
        let (table, owner, member) = relationship.columns
        all += [
          .repeatedMember(relationship.number, onlyOneOwner: relationship.membersHaveOneOwner),
          .storedMemberCount(relationship.number, in: table, owner: owner),
          .unlistedMember(relationship.number, in: table, owner: owner, member: member),
          .foreignMember(relationship.number, in: table, owner: owner),
        ]
        switch relationship.place {
        case .join(let join): all += SharedSQL.joinImported(relationship.number, join)
        case .foreignKey(let place):
          all.append(.ownImported(relationship.number, place, owners: relationship.ownerTable))
        }
        guard let order = relationship.orderColumns else { continue }
        all += [
          .orderImported(relationship.number, in: order, first: 5, distance: 7),
          .appendUnordered(in: order, first: 5, distance: 7),
        ]
      }
      for table in map.tables {
        for column in table.columns {
          all += [
            .keys(in: table.table, where: column.name, isIn: [1]), .delete(from: table.table, where: "Z_PK", isIn: [3]),
            .clear([column.name], of: table.table, where: column.name, isIn: [2]),
            .texts(in: table.table, column: column.name, .entities([table.number])),
          ]
        }
      }
      return all
    }

    @Test("Statements about the history")
    func history() throws {
      let map = TableMap.forNewStore(ChangeKind.all[0].new)
      let tables = HistoryLayout.tables(tombstones: 3).map { table in
        StoreSchema.Table(
          name: table.name, columns: table.columns.map { .init(name: $0.name, declaredType: $0.type.rawValue) })
      }
      let layout = try #require(HistoryLayout(StoreSchema(tables: tables, indexes: [])))
      let row = SharedSQL.ChangedRow(entity: 2, key: 8)
      let change = HistoryValueChange(.added) { $0 }
      let move = OldValuesMove(from: map, to: map, renames: .unchanged(in: map.model))
      let range = AttachedRange(first: Data([1]), end: Data([2]))
      let entry = AttachedEntry(key: Data([1]), value: Data([0, 255]))
      let sources: [(index: Int, change: HistoryValueChange)?] = [(0, change), nil]
      var all: [SharedSQL] = [
        .transactions(in: layout, afterNumber: 3, afterTime: 4.5, author: "a'b\\c", of: row, limit: 5),
        .changes(of: 7, in: layout, of: row), .transactionsToCopy(in: layout), .changesToCopy(in: layout),
        .oldValuesToCopy(after: [], limit: 9), .membersToCopy(after: [1, "a", 2, 3], limit: 9),
        .insert([[1, "a"], [.null, .blob(Data([1, 2]))]], into: "ACHANGE", ["Z_PK", "ZCOLUMNS"]),
        .forgetChangedColumns(ofEntity: 3), .changedColumns(ofEntity: 3, limit: 4),
        .translate([(old: Data([1]), new: Data([2, 3]))], ofEntity: 3), .moveTombstones(sources, ofEntity: 3),
        .firstTransaction, .hasTransaction(1), .timeOfTransaction(1), .lastTransaction(beforeNumber: 1),
        .lastTransaction(before: 1.5, now: 2.5), .firstTransaction(ofLast: 8), .deleteTransactions(before: 3),
        .deleteChanges(before: 3), .createHistoryReaders, .createHistoryMarks, .historyReaders, .historyMarks,
        .setHistoryReader("a", to: 3, heard: 4.5), .setHistoryMark("a", of: 3, to: "b"),
        .removeHistoryReader("a", from: "PERSIST_X"), .addHistoryText("a", key: 3), .addTombstone("ZTOMBSTONE3"),
        .dropTable(ofHistory: "ACHANGE"), .deleteHistoryNumbers, .oldValues(of: 3, of: row),
        .memberChanges(of: 3, of: row), .createAttachedTable, .attachedEntries(in: range, limit: 3),
      ]
      all += SharedSQL.oldValueTables
      all += SharedSQL.deleteOldValues(before: 3)
      all += SharedSQL.deleteAllOldValues
      all += SharedSQL.statements(move) { $0 }
      all += [SharedSQL.attachedEntries(in: [range, range][...])].compactMap(\.self)
      all += [SharedSQL.attachedEntries(withKeys: [Data([3])][...])].compactMap(\.self)
      all += [SharedSQL.setAttachedEntries([entry, entry][...])].compactMap(\.self)
      all += [SharedSQL.removeAttachedEntries([Data([3])][...])].compactMap(\.self)
      all += CheckStep.historySteps(layout, map).compactMap(Self.shared)
      expectSameMeaning(all)
    }

    @Test("Statements about parked values")
    func parking() throws {
      func slot(_ kind: ParkedSlot.Kind, column: ParkedColumn? = nil) -> ParkedSlot {
        ParkedSlot(
          number: 3, kind: kind, entity: "Item", property: "it's", elements: "", model: "ab", version: "1",
          column: column)
      }
      let (value, pairs) = (slot(.attribute), slot(.relationship))
      let beside = slot(.attribute, column: ParkedColumn(table: "ZITEM", name: "ZOLD", entityNumber: 2))
      let source = PairSource(
        table: "Z_1TAGS", owner: "Z_1ITEMS", member: "Z_2TAGS", place: "Z_FOK_TAGS", inversePlace: nil)
      let (owners, members) = (PairEnd(table: "ZITEM", entityNumbers: [1]), PairEnd(table: "ZTAG", entityNumbers: nil))
      let rows = PairRows(pairs: source, owners: owners, members: members)
      let parked = ParkedPairRows(slots: [3], members: [members], parkedMembers: [4])
      let key = KeyTarget(
        rows: members, row: .member, column: "ZITEM", place: "Z_FOK_ITEM", targets: owners)
      let counts: [RowCount] = [
        .unparked("ZITEM", .all, slots: [value, beside]), .unrelated("ZITEM", .entities([1]), [rows], parked: parked),
        .conflicting(rows, rows), .unmatched(rows, [rows]), .crowded(rows), .related(rows),
      ]
      var all: [SharedSQL] =
        [
          .createParkedSlots, .createParkedModels, .createParkedPairs, .createParkedStates, .dropParking("PERSIST_X"),
          .parkedSlots(hasStates: true), .parkedSlots(hasStates: false), .addParkedSlot(beside), .parkedModel("a"),
          .addParkedModel("a", .blob(Data([1]))), .removeUnusedParkedModels, .removeEmptyParkedSlots,
          .addParkedState(beside, at: 3.5), .removeUnusedParkedStates, .setParkedColumn(value), .raiseParkedAges,
          .countExpired(value, .parkedBefore(4)), .countExpired(value, .parkedMigrationsAgo(4)), .parkedTime(value),
          .parkedMigrations(value), .setParkedMigrations(value, 5), .countParked(value), .countParked(pairs),
          .countParkedKeys(value, in: "ZITEM"), .countRestored(beside, onlyPresent: true),
          .dropRestoredValues(value, table: "ZITEM"), .parkPairs(pairs, rows), .dropReplacedPairs(pairs, [source]),
          .recordStandIns(pairs, [source]), .recordStandIns(pairs, []), .dropKeptPairs(pairs),
          .restoreKeys(pairs, into: key, taken: "ZOWNER"),
          .restoreOrder(pairs, source, of: owners, place: "Z_FOK_TAGS", inverse: true),
        ]
      all += SharedSQL.removeParkedSlot(pairs)
      all += counts.compactMap { SharedSQL.count($0) }
      expectSameMeaning(all)
    }
  }
#endif
