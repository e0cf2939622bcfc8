import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Format strings of applications")
struct ApplicationFormatTests {
  @Test("They parse, print, parse back to the same tree, and return the same rows both ways", .needsSharedData)
  func agree() throws {
    var asked = 0
    for group in ApplicationFormats.all {
      try withObjects(of: group) { context, store, entity in
        let objects = try context.fetch(FetchRequest(group.entity))
        #expect(!objects.isEmpty, "\(group.store) has no \(group.entity)")
        var telling = 0
        let plain: [(String, [(any FetchArgument)?])] = group.formats.map { ($0, []) }
        let filled = group.arguments.map { ($0.format, $0.values.map { $0 as (any FetchArgument)? }) }
        for (format, arguments) in plain + filled {
          let predicate = try FetchPredicate(format, arguments: arguments)
          #expect(try FetchPredicate(predicate.format) == predicate, "\(format) → \(predicate.format)")
          #expect(try JSONDecoder().decode(FetchPredicate.self, from: JSONEncoder().encode(predicate)) == predicate)
          try PredicateCheck.check(predicate, over: entity, in: context.persistentStoreCoordinator.managedObjectModel)
          _ = try PredicateAgreementTests.ask(predicate, over: entity, store, objects)
          var request = FetchRequest(group.entity)
          request.predicate = predicate
          let evaluator = ExpressionEvaluator()
          let found = Set(try context.fetch(request))
          #expect(found == Set(try objects.filter { try evaluator.matches(predicate, .object($0)) }), "\(format)")
          if !found.isEmpty, found.count < objects.count { telling += 1 }
          asked += 1
        }
        #expect(
          telling > group.formats.count / 5, "\(group.entity): \(telling) of \(group.formats.count) tell objects apart")
      }
    }
    print("Asked real stores \(asked) format strings of applications, each both ways.")
  }

  private func withObjects(
    of group: ApplicationFormats.Group, _ body: (ManagedObjectContext, SQLiteStore, Entity) throws -> Void
  ) throws {
    let url = try SharedData.url(group.store)
    let registry = try? ModelRegistry(
      contentsOf: SharedData.url(String(group.store.prefix { $0 != "/" })))
    let model = try StoreIdentification.identify(storeAt: url, registry: registry).model
    let store = try SQLiteStore.open(url, model: model, options: StoreOptions(isReadOnly: true))
    defer { try? store.close() }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    try body(ManagedObjectContext(coordinator), store, model.entity(named: group.entity))
  }
}
