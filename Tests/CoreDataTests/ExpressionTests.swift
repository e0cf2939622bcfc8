import CoreData
import Foundation
import PersistTestSupport
import Testing

@Suite("Expressions and lists of arguments")
struct ExpressionTests {
  private func set(_ members: Int...) -> CoreData.NSExpression { CoreData.NSExpression(forAggregate: members) }

  private func numbers(_ expression: CoreData.NSExpression) -> Set<Int> {
    Set((expression.expressionValue(with: nil, context: nil) as? [Any] ?? []).compactMap { $0 as? Int })
  }

  @Test("Set operations have their members, operands and kinds")
  func sets() {
    let union = CoreData.NSExpression(forUnionSet: set(1, 2), with: set(2, 3))
    #expect(numbers(union) == [1, 2, 3] && union.expressionType == .unionSet)
    let intersection = CoreData.NSExpression(forIntersectSet: set(1, 2), with: set(2, 3))
    #expect(numbers(intersection) == [2] && intersection.expressionType == .intersectSet)
    let difference = CoreData.NSExpression(forMinusSet: set(1, 2), with: set(2, 3))
    #expect(numbers(difference) == [1] && difference.expressionType == .minusSet)
    #expect(numbers(difference.left) == [1, 2] && numbers(difference.right) == [2, 3])
  }

  @Test("Conditions and subqueries have their parts")
  func parts() {
    let condition = CoreData.NSExpression(
      forConditional: NSPredicate(format: "a > 1"), trueExpression: CoreData.NSExpression(forConstantValue: "yes"),
      falseExpression: CoreData.NSExpression(forConstantValue: "no"))
    #expect(condition.expressionValue(with: ["a": 2], context: nil) as? String == "yes")
    #expect(condition.expressionValue(with: ["a": 1], context: nil) as? String == "no")
    #expect(condition.true.constantValue as? String == "yes" && condition.false.constantValue as? String == "no")
    #expect(condition.predicate.evaluate(with: ["a": 2]))
    let subquery = CoreData.NSExpression(
      forSubquery: CoreData.NSExpression(forKeyPath: "items"), usingIteratorVariable: "i",
      predicate: NSPredicate(format: "$i > 1"))
    #expect(subquery.variable == "i" && (subquery.collection as? CoreData.NSExpression)?.keyPath == "items")
    #expect(subquery.expressionValue(with: ["items": [1, 2, 3]], context: nil) as? [Int] == [2, 3])
    let call = CoreData.NSExpression(
      forFunction: CoreData.NSExpression(forVariable: "manager"), selectorName: "find:",
      arguments: [CoreData.NSExpression(forKeyPath: "a")])
    #expect(call.function == "find:" && call.operand.variable == "manager" && call.arguments?.first?.keyPath == "a")
  }

  private func formatted(_ format: String, _ arguments: any CVarArg...) -> [NSPredicate] {
    [
      NSPredicate(format: format, arguments: getVaList(arguments)),
      withVaList(arguments) { NSPredicate(format: format, arguments: $0) },
    ]
  }

  @Test("A list of arguments gives the same predicate as the arguments themselves")
  func lists() {
    let date = NSDate(timeIntervalSinceReferenceDate: 0.1)
    let list = NSArray(array: [1, 2])
    let predicates =
      formatted("%K == %@ AND b < %d", NSString("a"), NSString("x"), Int32(-3))
      + formatted("a == '%@ %%' AND b > %ld AND c != %lf", -5_000_000_000, 2.5)
      + formatted("d < %@ AND e IN %@ AND f == %lu", date, list, UInt(7))
      + formatted("g == %lld OR g == %i OR h == %@", Int64.min, Int32.max, NSNumber(value: 0.1))
      + formatted("TRUEPREDICATE") + formatted("a == %@", "text")
    let expected: [NSPredicate] = [
      NSPredicate(format: "%K == %@ AND b < %d", "a", "x", -3),
      NSPredicate(format: "a == '%@ %%' AND b > %ld AND c != %lf", -5_000_000_000, 2.5),
      NSPredicate(format: "d < %@ AND e IN %@ AND f == %lu", date, list, 7),
      NSPredicate(format: "g == %lld OR g == %i OR h == %@", Int64.min, Int32.max, 0.1),
      NSPredicate(format: "TRUEPREDICATE"), NSPredicate(format: "a == %@", "text"),
    ]
    for (index, predicate) in predicates.enumerated() { #expect(predicate == expected[index / 2], "\(predicate)") }
  }

  @Test("Random numbers come through a list unchanged", .law("argument-lists", short: 30, long: 10_000))
  func randomLists() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let whole = random.next()
      let double = Double(bitPattern: random.next())
      guard double.isFinite else { return }
      let text = "\(random.next())"
      let predicates = formatted(
        "a == %ld AND b == %lu AND c == %f AND d == %@", Int(bitPattern: UInt(whole)), UInt(whole), double, text)
      let expected = NSPredicate(
        format: "a == %ld AND b == %lu AND c == %f AND d == %@", Int(bitPattern: UInt(whole)), UInt(whole), double, text
      )
      for predicate in predicates { #expect(predicate == expected) }
    }
  }

  @Test("The results of a request are the members of a collection in a predicate, or a number")
  func requests() throws {
    let context = try NSManagedObjectContext.opening(nil, TestModels.staff())
    for number in 0..<4 { context.employee("E\(number)", number) }
    try context.save()
    let rich = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    rich.predicate = NSPredicate(format: "salary >= 2")
    func expression(_ countOnly: Bool) -> CoreData.NSExpression {
      NSFetchRequestExpression.expression(
        forFetch: CoreData.NSExpression(forConstantValue: rich),
        context: CoreData.NSExpression(forConstantValue: context),
        countOnly: countOnly)
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.predicate = NSPredicate(format: "SELF IN %@", expression(false))
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    #expect(try context.names(request) == ["E2", "E3"])
    request.predicate = NSPredicate(format: "NOT (SELF IN %@)", expression(false))
    #expect(try context.names(request) == ["E0", "E1"])
    request.predicate = NSPredicate(format: "salary < %@", expression(true))
    #expect(try context.names(request) == ["E0", "E1"])
    #expect((expression(true) as? NSFetchRequestExpression)?.isCountOnlyRequest == true)
    rich.resultType = .dictionaryResultType
    rich.propertiesToFetch = ["name"]
    request.predicate = NSPredicate(format: "name IN %@", expression(false))
    #expect(try context.names(request) == ["E2", "E3"])
  }
}
