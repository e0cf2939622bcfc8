#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Dates as a server's moments", .serialized, .needsServer)
  struct ServerTimestampTests {
    private static func model(_ isTimestamp: Bool, version: Int = 1, isUnique: Bool = false) throws -> ManagedObjectModel {
      var at = AttributeDescription("at", .date)
      at.isServerTimestamp = isTimestamp
      return try ManagedObjectModel(
        ModelDescription(
          entities: [
            EntityDescription(
              "Event",
              attributes: [at, AttributeDescription("plain", .date), AttributeDescription("number", .int64)],
              uniquenessConstraints: isUnique ? [["at"]] : [],
              indexes: [FetchIndexDescription("byAt", on: "at")])
          ], versionIdentifiers: ["\(version)"]))
    }

    /// Dates with and without fractions, near and far.
    private static let dates: [Date?] = [
      nil, Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 0.1),
      Date(timeIntervalSinceReferenceDate: 712_345_678.123_456_789), Date(timeIntervalSinceReferenceDate: -0.000_001_4),
      Date(timeIntervalSinceReferenceDate: -63_114_076_800), Date(timeIntervalSinceReferenceDate: 252_455_615_999.5),
      Date(timeIntervalSinceReferenceDate: -978_307_200),
    ]

    private static func fill(_ context: ManagedObjectContext) throws {
      for (number, date) in dates.enumerated() {
        let event = try context.make("Event", ["number": number])
        event["at"] = date
        event["plain"] = date
      }
      try context.save()
    }

    /// The dates of the events by number.
    private static func dates(_ coordinator: PersistentStoreCoordinator) throws -> [Date?] {
      try ManagedObjectContext(coordinator).fetch(FetchRequest<ManagedObject>("Event", sortedBy: "number"))
        .map { $0["at"] as? Date }
    }

    @Test("The column is a timestamp, which other programs read, and values equal those that were set")
    func values() throws {
      let model = try Self.model(true)
      try ColumnTypeSample.withStore(of: model) { url, context in
        try Self.fill(context)
        let types = try ColumnTypeSample.types(url, of: "event")
        #expect(types["at"] == "timestamp with time zone" && types["plain"] == "persist_date")
        let set = try context.fetch(FetchRequest<ManagedObject>("Event", sortedBy: "number")).map { $0["at"] as? Date }
        #expect(set == Self.dates.map { $0?.roundedToMicroseconds })
        try #expect(Self.dates(context.persistentStoreCoordinator) == set)
        let texts = try ForeignSQL.run(
          ["SET TIME ZONE 'UTC'", "SELECT at::text FROM event WHERE at IS NOT NULL ORDER BY number"], at: url)
        #expect(texts[0] == ["2001-01-01 00:00:00+00"] && texts[2] == ["2023-07-29 17:47:58.123457+00"])
        // A row of another program.
        try ForeignSQL.run(
          ["UPDATE event SET at = '2024-02-29 12:00:00.000001+02' WHERE number = 0"], at: url)
        let date = try Self.dates(context.persistentStoreCoordinator)[0]
        #expect(date == Date(timeIntervalSinceReferenceDate: 730_893_600.000_001).roundedToMicroseconds)
        try ForeignSQL.run(["UPDATE event SET at = 'infinity' WHERE number = 0"], at: url)
        var problems: [StoreProblem] = []
        try checkStore(at: url, registry: nil) { problems.append($0) }
        #expect(problems.map(\.kind) == [.wrongType] && problems.first?.property == "at")
        let far = try context.make("Event", ["number": 99])
        far["at"] = Date(timeIntervalSinceReferenceDate: 1e15)
        #expect(persistError { try context.save() } != nil)
      }
    }

    @Test("Predicates, orders, aggregates and batches find what they find in memory", .law("moments", short: 60, long: 3000))
    func predicates() throws {
      let model = try Self.model(true)
      try ColumnTypeSample.withStore(of: model) { _, context in
        try Self.fill(context)
        let all = try context.fetch(FetchRequest<ManagedObject>("Event"))
        let memory = ManagedObjectContext(PersistentStoreCoordinator(model: model))
        try memory.persistentStoreCoordinator.addInMemoryStore()
        try Self.fill(memory)
        func numbers(_ context: ManagedObjectContext, _ predicate: FetchPredicate) throws -> [Int] {
          var request = FetchRequest<ManagedObject>("Event", sortedBy: "at")
          request.predicate = predicate
          request.sortDescriptors.append(FetchSortDescriptor("number"))
          return try context.fetch(request).compactMap { $0["number"] as? Int }
        }
        forEachSeed { seed in
          var random = SeededRandom(seed: seed)
          let date = Self.dates.randomElement(using: &random)?.map { date in
            date.addingTimeInterval([0, 0.000_000_3, 0.000_001, 1].randomElement(using: &random) ?? 0)
          } ?? Date()
          let operation = ["==", "!=", "<", "<=", ">", ">="].randomElement(using: &random) ?? "=="
          let forms: [FetchPredicate] = [
            try FetchPredicate(format: "at \(operation) %@", date), try FetchPredicate(format: "%@ \(operation) at", date),
            try FetchPredicate(format: "at \(operation) plain"), try FetchPredicate(format: "at BETWEEN {%@, %@}", date, date.addingTimeInterval(9e8)),
            try FetchPredicate(format: "at IN {%@, %@}", date, Self.dates[1] ?? date), try FetchPredicate(format: "at == nil OR at \(operation) %@", date),
          ]
          let predicate = forms.randomElement(using: &random) ?? forms[0]
          try #expect(numbers(context, predicate) == numbers(memory, predicate), "\(predicate)")
        }
        withExtendedLifetime(all) {}
        try context.execute(BatchUpdateRequest(
            "Event", where: try FetchPredicate(format: "number > 2"), set: ["at": .path(of: .current, ["plain"])]))
        try context.execute(BatchUpdateRequest(
            "Event", where: try FetchPredicate(format: "number == 1"), set: ["at": .value(Self.dates[3])]))
        let dates = try Self.dates(context.persistentStoreCoordinator)
        #expect(dates[1] == Self.dates[3]?.roundedToMicroseconds)
        #expect(dates.dropFirst(3).elementsEqual(Self.dates.dropFirst(3).map { $0?.roundedToMicroseconds }))
      }
    }

    @Test("A default value is rounded like a value that is set")
    func defaults() throws {
      let date = Date(timeIntervalSinceReferenceDate: 712_345_678.123_456_789)
      var made = AttributeDescription("made", .date, default: .date(date))
      made.isServerTimestamp = true
      let model = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("Event", attributes: [made])]))
      try ColumnTypeSample.withStore(of: model) { _, context in
        let event = try context.make("Event", [:])
        #expect(event["made"] as? Date == date.roundedToMicroseconds && date.roundedToMicroseconds != date)
        try context.save()
        let other = ManagedObjectContext(context.persistentStoreCoordinator)
        let stored = try #require(other.fetch(FetchRequest("Event")).first)
        #expect(stored["made"] as? Date == event["made"] as? Date)
      }
    }

    @Test("A migration converts the values in both directions, and its plan shows how")
    func migration() throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let plain = try Self.model(false), moments = try Self.model(true, version: 2)
        do {
          let coordinator = PersistentStoreCoordinator(model: plain)
          let store = try coordinator.addStore(at: url)
          try Self.fill(ManagedObjectContext(coordinator))
          try coordinator.remove(store)
        }
        let versions = [ModelVersion(name: "1", model: plain), ModelVersion(name: "2", model: moments)]
        let registry = ModelRegistry(versions: versions)
        let plan = try MigrationPlan(storeAt: url, to: versions[1], registry: registry)
        #expect(plan.way == .inPlace && plan.losses.isEmpty)
        #expect("\(plan)".contains("timestamptz"), "\(plan)")
        for (model, type) in [(moments, "timestamp with time zone"), (plain, "persist_date"), (moments, "timestamp with time zone")] {
          let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
          var migrator = AutomaticMigrator()
          migrator.downgrade = .withLoss
          let store = try coordinator.addStore(at: url, options: StoreOptions(migrator: migrator))
          try #expect(ColumnTypeSample.types(url, of: "event")["at"] == type)
          try #expect(Self.dates(coordinator) == Self.dates.map { $0?.roundedToMicroseconds })
          var problems: [StoreProblem] = []
          try checkStore(at: url, registry: nil) { problems.append($0) }
          #expect(problems.isEmpty, "\(problems)")
          try coordinator.remove(store)
        }
      }
    }

    @Test("Stores are copied between engines with equal dates, and unique dates conflict")
    func copying() throws {
      let model = try Self.model(true, isUnique: true)
      try ColumnTypeSample.withStore(of: model) { url, context in
        try Self.fill(context)
        let second = try context.make("Event", ["number": 9])
        second["at"] = Self.dates[3]
        #expect(persistError { try context.save() }?.code == .constraintConflict)
        context.rollback()
        try withTemporaryFolder { folder in
          let file = folder.appendingPathComponent("Copy.sqlite")
          let coordinator = context.persistentStoreCoordinator
          let store = try #require(coordinator.persistentStores.first)
          try coordinator.backUp(store, to: file)
          let other = PersistentStoreCoordinator(model: model)
          let info = try other.addStore(at: file)
          try #expect(Self.dates(other) == Self.dates.map { $0?.roundedToMicroseconds })
          try other.remove(info)
          try TestServer.withSchema { text in
            let back = try #require(URL(string: text))
            try other.replacePersistentStore(at: back, withPersistentStoreFrom: file)
            let info = try other.addStore(at: back)
            try #expect(Self.dates(other) == Self.dates.map { $0?.roundedToMicroseconds })
            try #expect(ColumnTypeSample.types(back, of: "event")["at"] == "timestamp with time zone")
            try other.remove(info)
          }
        }
      }
    }
  }
#endif
