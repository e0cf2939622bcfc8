import CoreData
import Foundation
import Testing

@Suite("Predicates and expressions of Core Data's")
struct PredicateTests {
  private let context: NSManagedObjectContext

  init() throws {
    context = try .opening(nil, TestModels.staff())
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    for (name, salary) in [("Ann", 10), ("bob", 20), ("Carol", 30)] { context.employee(name, salary, in: department) }
    try context.save()
  }

  private func names(_ predicate: NSPredicate) throws -> [String] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: true)]
    let found = try context.names(request)
    // Memory and store agree.
    request.predicate = nil
    #expect(try context.fetch(request).filter(predicate.evaluate).map { $0.value(forKey: "name") as? String } == found)
    return found
  }

  @Test(
    "Comparisons are built of expressions",
    arguments: [
      (CoreData.NSComparisonPredicate.Operator.equalTo, "name", "BOB" as any Sendable, ["bob"]),
      (.beginsWith, "name", "c", ["Carol"]), (.contains, "name", "O", ["bob", "Carol"]),
      (.greaterThanOrEqualTo, "salary", 20, ["bob", "Carol"]), (.notEqualTo, "salary", 20, ["Ann", "Carol"]),
      (.in, "salary", [10, 30], ["Ann", "Carol"]), (.between, "salary", [15, 35], ["bob", "Carol"]),
      (.like, "name", "a*", ["Ann"]), (.matches, "name", ".*o.*", ["bob", "Carol"]),
    ])
  func comparisons(
    type: CoreData.NSComparisonPredicate.Operator, key: String, value: any Sendable, expected: [String]
  ) throws {
    let predicate = CoreData.NSComparisonPredicate(
      leftExpression: CoreData.NSExpression(forKeyPath: key),
      rightExpression: CoreData.NSExpression(forConstantValue: value), modifier: .direct, type: type,
      options: key == "name" ? .caseInsensitive : [])
    #expect(try names(predicate) == expected)
    #expect(try names(NSCompoundPredicate(notPredicateWithSubpredicate: predicate)).count == 3 - expected.count)
  }

  @Test("A format with one comparison is a comparison, whose parts can be read")
  func parts() throws {
    let predicate = try #require(
      NSPredicate(format: "ANY department.employees.name ==[cd] %@", "x") as? CoreData.NSComparisonPredicate)
    #expect(predicate.leftExpression.keyPath == "department.employees.name")
    #expect(predicate.rightExpression.constantValue as? String == "x")
    #expect(predicate.comparisonPredicateModifier == .any)
    #expect(predicate.predicateOperatorType == .equalTo)
    #expect(predicate.options == [.caseInsensitive, .diacriticInsensitive])
    #expect(predicate == NSPredicate(format: "ANY department.employees.name ==[cd] 'x'"))
    #expect(!(NSPredicate(format: "a = 1 AND b = 2") is CoreData.NSComparisonPredicate))
  }

  @Test("Variables take values of every kind, also collections and objects")
  func variables() throws {
    let department = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Department")).first)
    let template = NSPredicate(format: "name IN $NAMES AND department == $DEPARTMENT")
    #expect(try names(template.withVariables(["NAMES": ["Ann", "Carol"], "DEPARTMENT": department])) == ["Ann", "Carol"])
  }

  @Test("Expressions have values without a store")
  func values() throws {
    let ann = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Employee")).first)
    #expect(CoreData.NSExpression(format: "4 + 5 - 2**3").expressionValue(with: nil, context: nil) as? Int == 1)
    #expect(
      CoreData.NSExpression(format: "max:({1, 2, 11})").expressionValue(with: nil, context: nil) as? Int == 11)
    let path = CoreData.NSExpression(forKeyPath: "salary")
    #expect(path.expressionValue(with: ann, context: nil) as? Int == ann.value(forKey: "salary") as? Int)
    #expect(path.expressionType == .keyPath)
    let sum = CoreData.NSExpression(forFunction: "sum:", arguments: [path])
    #expect(sum.function == "sum:" && sum.arguments?.first?.keyPath == "salary")
    let aggregate = CoreData.NSExpression(forAggregate: [path, 1])
    #expect(aggregate.expressionType == .aggregate && (aggregate.collection as? [Any])?.count == 2)
  }

  @Test("Subqueries count members")
  func subqueries() throws {
    let subquery = CoreData.NSExpression(
      forSubquery: CoreData.NSExpression(forKeyPath: "employees"), usingIteratorVariable: "e",
      predicate: NSPredicate(format: "$e.salary > 15"))
    let count = NSPredicate(format: "%@.@count == 2", subquery)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
    request.predicate = count
    #expect(try context.count(for: request) == 1)
  }

  @Test("Notifications are a sequence")
  func notifications() async throws {
    var iterator = NotificationCenter.default.notifications(named: .NSManagedObjectContextDidSave, object: context)
      .makeAsyncIterator()
    context.employee("Dora", 1)
    try context.save()
    let notification = await iterator.next()
    #expect((notification?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.count == 1)
  }
}
