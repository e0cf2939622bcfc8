import CoreMetrics
import Foundation
import InMemoryTracing
import MetricsTestKit
import Persist
import PersistObservability
import PersistTestSupport
import Testing
import Tracing

@Suite("Traces and metrics of stores")
struct TelemetryTests {
  @Test("A save, a fetch and a group of faults are spans with their rows and statements", arguments: Place.all)
  func operations(place: Place) throws {
    try place.withStore { url in
      let observed = try Observed(url)
      _ = observed.spans()
      try observed.fill()
      let save = try #require(observed.spans().last { $0.operationName.hasPrefix("save") })
      #expect(save["persist.inserted"] == "4")
      #expect(save["db.operation.name"] == "save")
      #expect(try #require(save["persist.statements"].flatMap { Int($0) }) > 0)

      let context = ManagedObjectContext(observed.coordinator)
      let request = try FetchRequest("Book", where: "pages > 101", sortedBy: [FetchSortDescriptor("title")])
      let books = try context.fetch(request)
      let fetch = try #require(observed.spans().last { $0.operationName == "fetch Book" })
      #expect(books.count == 2)
      #expect(fetch["db.response.returned_rows"] == "2")
      #expect(fetch["db.collection.name"] == "Book")
      #expect(fetch["db.system.name"] == (url.isFileURL ? "sqlite" : "postgresql"))
      #expect(fetch.kind == .client)

      let objects = ManagedObjectContext(observed.coordinator)
      let faults = books.map { objects.object(with: $0.objectID) }
      #expect(faults.compactMap { $0["title"] as? String } == ["Book 2", "Book 3"])
      let fault = try #require(observed.spans().first { $0.operationName == "fault Book" })
      #expect(try #require(fault["persist.keys"].flatMap { Int($0) }) >= 1)

      #expect(try context.count(for: FetchRequest("Shelf")) == 1)
      #expect(observed.spans().contains { $0.operationName == "count Shelf" })
    }
  }

  @Test("Spans belong to the trace of the task that awaits the work")
  func traceOfTask() async throws {
    try await withTemporaryFolder { folder in
      let observed = try Observed(folder.appendingPathComponent("Store.sqlite"))
      let container = try observed.container(folder.appendingPathComponent("Other.sqlite"))
      _ = observed.spans()
      let parent = observed.tracer.startSpan("request")
      try await ServiceContext.withValue(parent.context) {
        try await container.save { context in try context.create("Shelf")["name"] = "New" }
        try await container.read { context in _ = try context.fetch(FetchRequest("Shelf")).first?["name"] }
      }
      parent.end()
      let spans = observed.spans()
      let operations = spans.filter { ["save Shelf", "fetch Shelf"].contains($0.operationName) }
      #expect(operations.count == 2)
      for span in operations {
        #expect(span.traceID == parent.traceID)
        #expect(span.parentSpanID == parent.spanID)
      }
    }
  }

  @Test("The wait of a task for a thread is a span of its trace, and a metric")
  func waitForThread() async throws {
    try await withTemporaryFolder { folder in
      let observed = try Observed(folder.appendingPathComponent("Store.sqlite"), minimumWait: .zero)
      let container = try observed.container(folder.appendingPathComponent("Other.sqlite"))
      _ = observed.spans()
      let parent = observed.tracer.startSpan("request")
      try await ServiceContext.withValue(parent.context) {
        try await container.read { context in _ = try context.count(for: FetchRequest("Shelf")) }
      }
      // Without a trace, only the metric.
      try await container.read { context in _ = try context.count(for: FetchRequest("Shelf")) }
      parent.end()
      let spans = observed.spans()
      let waits = spans.filter { $0.operationName == "wait for thread" && $0.parentSpanID == parent.spanID }
      #expect(waits.count == 1)
      let count = try #require(spans.first { $0.operationName == "count Shelf" })
      #expect(waits.allSatisfy { $0["persist.wait.reason"] == "thread" })
      #expect(waits.allSatisfy { $0.endInstant.nanosecondsSinceEpoch <= count.startInstant.nanosecondsSinceEpoch })
      let metrics = observed.metrics.timers(label: "persist.wait.duration")
      #expect(metrics.contains { timer in timer.dimensions.contains { $0 == ("persist.wait.reason", "thread") } })
    }
  }

  @Test("Opening a further connection is a span in the operation that needs it", arguments: Place.all)
  func furtherConnection(place: Place) throws {
    try place.withStore { url in
      let observed = try Observed(url, minimumWait: .zero)
      try observed.fill()
      _ = observed.spans()
      var spans: [FinishedInMemorySpan] = []
      let coordinator = observed.coordinator
      // Until two threads read at the same time.
      for _ in 0..<500 where !spans.contains(where: { $0.operationName == "wait for opening" }) {
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
          let context = ManagedObjectContext(coordinator)
          #expect((try? context.count(for: FetchRequest("Shelf"))) == 1)
        }
        spans += observed.spans()
      }
      let opening = try #require(spans.first { $0.operationName == "wait for opening" })
      #expect(spans.contains { $0.spanID == opening.parentSpanID && $0["db.operation.name"] != nil })
      try observed.close()
    }
  }

  @Test("A failed save names the kind of its error and nothing else")
  func failure() throws {
    var model = Observed.model
    model.entities[1].uniquenessConstraints = [["title"]]
    try withTemporaryFile { url in
      let observed = try Observed(url, model: model)
      let context = ManagedObjectContext(observed.coordinator)
      for _ in 1...2 { try context.create("Book")["title"] = "very secret" }
      _ = observed.spans()
      #expect(throws: PersistenceError.self) { try context.save() }
      let save = try #require(observed.spans().last { $0.operationName == "save Book" })
      #expect(save["error.type"] == "constraintConflict")
      #expect(save.status?.code == .error)
      #expect(save.errors.isEmpty)
    }
  }

  @Test("Neither spans nor metrics contain values, folders or statements", arguments: Place.all)
  func discretion(place: Place) throws {
    try place.withStore { url in
      let observed = try Observed(url)
      try observed.fill()
      let context = ManagedObjectContext(observed.coordinator)
      _ = try context.fetch(FetchRequest("Book", where: "title == %@", "Book 2")).first?["title"]
      var texts: [String] = []
      for span in observed.spans() {
        texts.append(span.operationName)
        span.attributes.forEach { name, value in texts += [name, "\(value)"] }
      }
      for metric in observed.metrics.timers { texts += metric.dimensions.flatMap { [$0.0, $0.1] } }
      for metric in observed.metrics.counters { texts += metric.dimensions.flatMap { [$0.0, $0.1] } }
      let all = texts.joined(separator: "\n")
      #expect(!all.isEmpty)
      for secret in ["Book 2", "Poems", "SELECT", "INSERT", "password"] { #expect(!all.contains(secret)) }
      if url.isFileURL { #expect(!all.contains(url.deletingLastPathComponent().path)) }
    }
  }

  @Test("The duration, rows and statements of operations are metrics")
  func metrics() throws {
    try withTemporaryFile { url in
      let observed = try Observed(url)
      try observed.fill(books: 5)
      _ = try ManagedObjectContext(observed.coordinator).fetch(FetchRequest("Book"))
      let fetches = observed.metrics.timers(label: "db.client.operation.duration").filter { timer in
        timer.dimensions.contains { $0 == ("db.operation.name", "fetch") }
      }
      #expect(fetches.map(\.values.count) == [1])
      let rows = observed.metrics.recorders(label: "db.client.response.returned_rows").filter { recorder in
        recorder.dimensions.contains { $0 == ("db.collection.name", "Book") }
      }
      #expect(rows.contains { $0.values == [5] })
      #expect(observed.metrics.counterTotal(label: "persist.statements") > 0)
    }
  }

  @Test("A wait for another writer is a span in the operation that waited, and a metric")
  func waits() throws {
    try withTemporaryFile { url in
      let observed = try Observed(url, minimumWait: .zero)
      let (isHeld, isEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      Thread.detachNewThread {
        defer { isEnded.signal() }
        // The statement holds the lock for as long as it takes to count.
        _ = try? ForeignSQL.run("CREATE TABLE HELD (N)", at: url)
        isHeld.signal()
        _ = try? ForeignSQL.run(Self.slowInsert, at: url)
      }
      isHeld.wait()
      _ = observed.spans()
      // Until a save has met the lock; most do at once.
      var spans: [FinishedInMemorySpan] = []
      while isEnded.wait(timeout: .now()) == .timedOut, !spans.contains(where: { $0.operationName == "wait for lock" }) {
        try observed.fill()
        spans += observed.spans()
      }
      let wait = try #require(spans.first { $0.operationName == "wait for lock" })
      #expect(spans.contains { $0.operationName == "save" && $0.spanID == wait.parentSpanID })
      #expect(wait.startInstant.nanosecondsSinceEpoch < wait.endInstant.nanosecondsSinceEpoch)
      #expect(!observed.metrics.timers(label: "persist.wait.duration").isEmpty)
    }
  }

  /// Takes a fraction of a second and writes one row at its end.
  private static let slowInsert = """
    INSERT INTO HELD WITH RECURSIVE N(I) AS (SELECT 1 UNION ALL SELECT I + 1 FROM N WHERE I < 3000000) \
    SELECT count(*) FROM N
    """

  /// Provides a store of the model before the one that is passed.
  private func withOldStore(_ body: (URL, ModelDescription, Observed) throws -> Void) throws {
    try withTemporaryFile { url in
      let old = try Observed(url)
      try old.fill()
      try old.close()
      var model = Observed.model
      model.entities[1].attributes.append(AttributeDescription("isbn", .string))
      try body(url, model, old)
    }
  }

  @Test("A migration is a span with one for each pass")
  func migration() throws {
    try withOldStore { url, model, old in
      let observed = try Observed(url, model: model)
      let spans = observed.spans()
      let steps = spans.filter { $0.operationName.hasPrefix("migrate: ") }
      let migration = try #require(spans.last)
      #expect(migration.operationName == "migrate")
      // The checks, the change, and what follows until the commit.
      #expect(steps.map(\.operationName) == ["migrate: inPlace", "migrate: inPlace Book", "migrate: inPlace"])
      #expect(steps.map { $0["persist.migration.pass"] } == ["inPlace", "inPlace", "inPlace"])
      #expect(Set(steps.map(\.parentSpanID)) == [migration.spanID])
      #expect(old.spans().allSatisfy { $0.operationName != "migrate" })
    }
  }

  @Test("A migrator's own progress handler still receives the progress, and can cancel")
  func progressHandler() throws {
    try withOldStore { url, model, _ in
      let migrator = AutomaticMigrator { _ in false }
      #expect(throws: (any Error).self) {
        try Observed(url, model: model, options: StoreOptions(migrator: migrator))
      }
      let unchanged = try Observed(url)
      #expect(try ManagedObjectContext(unchanged.coordinator).count(for: FetchRequest("Book")) == 3)
    }
  }

  @Test("An observed store behaves like any other", arguments: Place.all)
  func behaviour(place: Place) throws {
    try place.withStore { url in
      var options = StoreOptions.automaticMigration
      options.tracksHistory = true
      let observed = try Observed(url, options: options)
      try observed.fill()
      let coordinator = observed.coordinator
      let context = ManagedObjectContext(coordinator)
      try context.setQueryGeneration(from: .current)
      #expect(try context.fetch(FetchRequest("Book")).count == 3)
      try ManagedObjectContext(coordinator).execute(
        BatchInsertRequest(entityName: "Book", objects: [["title": "Late", "pages": 7]]))
      #expect(try context.fetch(FetchRequest("Book")).count == 3)
      try context.setQueryGeneration(from: nil)
      #expect(try context.fetch(FetchRequest("Book")).count == 4)
      let shelf = try #require(try context.fetch(FetchRequest("Shelf")).first)
      #expect((shelf["books"] as? RelationshipSet<ManagedObject>)?.count == 3)
      #expect(try context.execute(.fetchHistory(after: nil)).transactions.count == 2)
      let info = try #require(coordinator.persistentStores.first)
      #expect(info.type == (url.isFileURL ? .sqlite : .postgreSQL))
      #expect(Set(observed.spans().map(\.operationName)).isSuperset(of: ["insert Book", "history", "related Shelf"]))
    }
  }

  @Test("A store that moves is observed as the options of the new one say")
  func moving() throws {
    try withTemporaryFolder { folder in
      let observed = try Observed(folder.appendingPathComponent("Store.sqlite"))
      try observed.fill()
      let info = try #require(observed.coordinator.persistentStores.first)
      var options = StoreOptions()
      options.telemetry = observed.telemetry
      try observed.coordinator.migratePersistentStore(
        info, to: folder.appendingPathComponent("Moved.sqlite"), options: options)
      _ = observed.spans()
      #expect(try ManagedObjectContext(observed.coordinator).fetch(FetchRequest("Book")).count == 3)
      let fetch = try #require(observed.spans().first { $0.operationName == "fetch Book" })
      #expect(fetch["db.namespace"] == "Moved.sqlite")
    }
  }

  @Test("Each requirement of a store's protocols is observed or forwarded")
  func forwarding() throws {
    let sources = PackageFolder.url.appendingPathComponent("Sources")
    func requirements(_ file: String, of name: String) throws -> Set<String> {
      let text = try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
      let start = try #require(text.range(of: "package protocol \(name)"))
      let end = try #require(text[start.upperBound...].range(of: "\n}\n")).lowerBound
      return declarations(in: text[start.upperBound..<end])
    }
    func declarations(in text: Substring) -> Set<String> {
      Set(
        text.matches(of: /\n  (?:private |fileprivate )?(?:func|var|let) (\w+)/).map { String($0.output.1) })
    }
    let product = sources.appendingPathComponent("PersistObservability")
    var forwarded: Set<String> = []
    for file in ["ObservedRows", "ObservedStore", "ObservedHistory"] {
      let text = try String(contentsOf: product.appendingPathComponent("\(file).swift"), encoding: .utf8)
      forwarded.formUnion(declarations(in: text[...]))
    }
    let all = try requirements("Persist/Rows/RowSource.swift", of: "RowSource")
      .union(requirements("Persist/Store/PersistentStore.swift", of: "PersistentStore"))
      .union(requirements("Persist/Rows/History/StoreHistory.swift", of: "StoreHistory"))
    #expect(all.count > 50)
    #expect(all.subtracting(forwarded).isEmpty)
  }
}
