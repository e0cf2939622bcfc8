#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Synchronization
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The progress of statements that run for long on a server.
  @Suite("Progress on a server", .serialized, .onOwnThread)
  struct ServerProgressTests {
    // MARK: Observed work

    @Test(
      "However a database grows, an estimate never decreases and leaves no part before its end is seen",
      .law("observed-growth", short: 300, long: 30_000))
    func growth() {
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let indexes = (0..<Int.random(in: 0...4, using: &random)).map { number in
          StatementCourse.Index(
            bytes: .random(in: 100_000...9_000_000, using: &random), isKey: number == 0,
            isText: .random(using: &random))
        }
        let bytes = Int64.random(in: 100_000...9_000_000, using: &random)
        var observed = ObservedGrowth(.rewriting(bytes: bytes, indexes))
        var (progress, last, time) = (EstimatedProgress(), 0.0, 0.0)
        var furthest = StatementCourse.Position(done: 0, end: 0)
        for _ in 0..<60 {
          time += .random(in: 0...1, using: &random)
          let growth = Int64(time * 1_000_000) + .random(in: -500_000...500_000, using: &random)
          let position = observed.position(growth: growth, at: time)
          #expect(position.done <= position.end && position.end <= 1.000_001)
          if position.done >= furthest.done { furthest = position }
          let fraction = progress.advance(to: position, at: time)
          #expect(fraction >= last && fraction <= 1.000_001 && fraction >= position.done)
          #expect(fraction == last || fraction <= max(furthest.end, furthest.done) + 1e-9)
          last = fraction
        }
        let all = indexes.reduce(bytes) { $0 + $1.bytes }
        #expect(abs(observed.position(growth: all * 2 + 10_000_000, at: time + 1).done - 1) < 1e-9)
      }
    }

    /// The law, with a clock of the test: if each part takes the time that its cost says, and only some of them can be
    /// seen, the estimate is never wrong by more than a tenth.
    @Test("The estimate follows time", .law("estimate-follows-time", short: 200, long: 20_000))
    func estimate() {
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let rows = Int64.random(in: 200_000...1_000_000, using: &random)
        let indexes = (0..<Int.random(in: 0...4, using: &random)).map { number in
          StatementCourse.Index(
            bytes: rows * .random(in: 7...40, using: &random), isKey: number == 0, isText: .random(using: &random))
        }
        let course = StatementCourse.rewriting(bytes: rows * .random(in: 40...300, using: &random), indexes)
        let total = course.parts.reduce(0) { $0 + $1.cost }
        // New indexes are smaller than those that grew, or a little larger.
        let sizes = course.parts.enumerated().map { number, part in
          Double(part.bytes) * .random(in: number == 0 ? 0.95...1.02 : 0.6...1.02, using: &random)
        }
        var (observed, progress, worst) = (ObservedGrowth(course), EstimatedProgress(), 0.0)
        let seconds = Double.random(in: 5...60, using: &random)
        for step in 1...1000 {
          var (left, growth) = (total * Double(step) / 1000, 0.0)
          for (part, size) in zip(course.parts, sizes) where left > 0 {
            growth += size * min(1, left / part.cost)
            left -= part.cost
          }
          let time = seconds * Double(step) / 1000
          let fraction = progress.advance(to: observed.position(growth: Int64(growth), at: time), at: time)
          worst = max(worst, abs(fraction - time / seconds))
        }
        #expect(worst < 0.1)
      }
    }

    @Test("The creation of an index is read, sorted and written in this order")
    func index() {
      for isText in [false, true] {
        let course = StatementCourse.creating(isText: isText)
        let places = [(0, 0.0), (0, 0.5), (1, 0), (2, 0), (2, 0.5), (2, 1)]
          .map { course.position(part: $0.0, fraction: $0.1) }
        #expect(places.map(\.done) == places.map(\.done).sorted() && Set(places.map(\.done)).count == 6)
        #expect(places[0].done == 0 && places[5].done == 1)
        #expect(places[1].end == places[2].done && places[2].end == places[3].done)
      }
    }

    // MARK: Waiting

    @Test("Whoever waits for a statement is asked in between, and can cancel it", .needsServer)
    func waiting() throws {
      let url = try #require(URL(string: TestServer.url.get()))
      let connection = try ServerDrivers.current.connect(to: #require(ServerAddress(url)))
      defer { connection.close() }
      var calls = 0
      connection.whileWaiting = {
        calls += 1
        return true
      }
      _ = try connection.run([ServerStatement("SELECT 1 FROM pg_sleep(0.3)")])
      #expect(calls > 0)
      connection.whileWaiting = {
        calls += 1
        return calls < 3
      }
      calls = 0
      let failure = #expect(throws: ServerFailure.self) {
        _ = try connection.run([ServerStatement("SELECT 1 FROM pg_sleep(60)")])
      }
      #expect(failure?.state == "57014" && calls == 3)
      let result = try connection.run([ServerStatement("SELECT 5::bigint")])
      #expect(result.first?.integer(0, 0) == 5)
    }

    @Test("An import reports its completion after the last row, and an error of a report leaves nothing", .needsServer)
    func completion() throws {
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item", attributes: [.init("name", .string)], relationships: [.init("box", to: "Box", inverse: "items")]),
          EntityDescription("Box", relationships: [.init("items", toMany: "Item", inverse: "box")]),
        ]))
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url)
        let store = coordinator.openStores[0]
        let entity = try store.model.entity(named: "Item")
        func insert(_ report: (Double) throws -> Void) throws {
          var slice: ImportSlice? = ImportSlice()
          slice?.inserts = [.init(key: .temporary(1), entity: entity, values: SlotValues())]
          _ = try store.insert(
            slices: {
              defer { slice = nil }
              return slice
            }, completing: report)
        }
        let stop = PersistenceError(.migrationCancelled, "Enough.")
        let error = persistError { try insert { if $0 > 0.2 { throw stop } } }
        #expect(error?.code == stop.code)
        var fractions: [Double] = []
        try insert { fractions.append($0) }
        #expect(fractions == fractions.sorted() && Set(fractions).count > 4, "\(fractions)")
        #expect(fractions.allSatisfy { (0...1).contains($0) })
        #expect(try ManagedObjectContext(coordinator).count(for: FetchRequest("Item")) == 1)
      }
    }

    // MARK: Migrations

    private static func version(_ number: Int, _ kind: AttributeType, isIndexed: Bool) throws -> ModelVersion {
      ModelVersion(
        name: "\(number)",
        model: try ManagedObjectModel(
          ModelDescription(
            entities: [
              EntityDescription(
                "Item", attributes: [.init("name", .string), .init("number", kind)],
                indexes: isIndexed ? [FetchIndexDescription("byName", on: "name")] : [])
            ], versionIdentifiers: ["\(number)"])))
    }

    /// A store of the first version, and its migration.
    private func withMigration(
      to kind: AttributeType, isIndexed: Bool, _ body: (URL, ModelRegistry, _ schema: String) throws -> Void
    ) throws {
      WaitedServer.install()
      let versions = try [Self.version(1, .int32, isIndexed: false), Self.version(2, kind, isIndexed: isIndexed)]
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: versions[0].model)
        let store = try coordinator.addStore(at: url)
        let context = ManagedObjectContext(coordinator)
        for number in 0..<1000 { try context.make("Item", ["name": "\(number)", "number": number]) }
        try context.save()
        try coordinator.remove(store)
        try body(url, ModelRegistry(versions: versions), #require(ServerAddress(url)).schema)
      }
    }

    @Test("A long statement reports how far the server is", .needsServer, arguments: [false, true])
    func withinStatement(isIndexed: Bool) throws {
      try withMigration(to: isIndexed ? .int32 : .double, isIndexed: isIndexed) { url, registry, schema in
        let states = LockProtected<[MigrationProgress]>([])
        let migrator = AutomaticMigrator { state in
          states.withLock { $0.append(state) }
          return true
        }
        WaitedServer.answer(schema)
        try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
        WaitedServer.end(schema)
        let found = states.withLock { $0 }
        #expect(found.map(\.completed) == found.map(\.completed).sorted())
        let long = found.filter { $0.current.contains(isIndexed ? "CREATE INDEX" : "ALTER TABLE") }
        #expect(Set(long.map(\.completed)).count > 3, "\(found.map { ($0.current.prefix(20), $0.completed) })")
      }
    }

    @Test("A long statement can be canceled, and the store is unchanged", .needsServer, arguments: [false, true])
    func cancelled(isIndexed: Bool) throws {
      try withMigration(to: isIndexed ? .int32 : .double, isIndexed: isIndexed) { url, registry, schema in
        let firsts = LockProtected<[String: Int64]>([:])
        let migrator = AutomaticMigrator { state in
          // Only a report within a statement has the same text as the one before it, and more work.
          firsts.withLock { firsts in
            let first = firsts[state.current] ?? state.completed
            firsts[state.current] = first
            return state.current.isEmpty || state.completed == first
          }
        }
        WaitedServer.answer(schema)
        let error = persistError { try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry) }
        WaitedServer.end(schema)
        #expect(error?.code == .migrationCancelled, "\(String(describing: error))")
        let coordinator = PersistentStoreCoordinator(model: registry.versions[0].model)
        let store = try coordinator.addStore(at: url)
        #expect(try ManagedObjectContext(coordinator).count(for: FetchRequest("Item")) == 1000)
        try coordinator.remove(store)
        try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      }
    }
  }

  /// A server whose statements that change tables seem to take long, and whose answers about them a test gives.
  private enum WaitedServer {
    /// The number of answers for each schema.
    private static let answers = Mutex<[String: Int64]>([:])
    private static let installation: Void = ServerDrivers.install(Driver(inner: ServerDrivers.current))

    static func install() { installation }
    static func answer(_ schema: String) { answers.withLock { $0[schema] = 0 } }
    static func end(_ schema: String) { _ = answers.withLock { $0.removeValue(forKey: schema) } }

    /// The next number for a schema: 1, 2 …; nil if no test answers.
    private static func next(_ schema: String) -> Int64? {
      answers.withLock { answers in
        guard let last = answers[schema] else { return nil }
        answers[schema] = last + 1
        return last + 1
      }
    }

    private struct Driver: ServerDriver {
      let inner: any ServerDriver

      func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
        let schema = address.schema
        return ForwardedConnection(try inner.connect(to: address, patience)) { connection, statements in
          let text = statements.map(\.text).joined(separator: "\n")
          let isQuestion = text.contains("pg_database_size") || text.contains("pg_stat_progress_create_index")
          if isQuestion, let number = next(schema) {
            return [Numbers(text.contains("pg_database_size") ? [number * 8192] : [0, number, 20, 0, 20])]
          }
          if let ask = connection.whileWaiting {
            // Until the statement has made some progress, or is canceled.
            let last = (answers.withLock { $0[schema] } ?? 0) + 12
            for _ in 0..<10_000_000 where answers.withLock({ ($0[schema] ?? .max) < last }) {
              guard ask() else { throw ServerFailure(state: "57014", message: "canceled") }
            }
          }
          return try connection.run(statements)
        }
      }
    }

    /// A row of integers.
    private final class Numbers: ServerResult {
      private let numbers: [Int64]
      private let buffer: UnsafeMutableBufferPointer<Int64>

      init(_ numbers: [Int64]) {
        self.numbers = numbers
        buffer = .allocate(capacity: numbers.count)
        _ = buffer.initialize(from: numbers.map(\.bigEndian))
      }

      deinit { buffer.deallocate() }

      var rowCount: Int { 1 }
      var changedRowCount: Int { 0 }
      func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[column...column]))
      }
    }
  }
#endif
