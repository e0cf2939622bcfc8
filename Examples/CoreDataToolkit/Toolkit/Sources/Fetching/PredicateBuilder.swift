import CoreData
import Foundation

public struct Condition<Root: NSManagedObject> {
  public let predicate: NSPredicate

  public static func && (lhs: Condition, rhs: Condition) -> Condition {
    Condition(predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [lhs.predicate, rhs.predicate]))
  }
  public static func || (lhs: Condition, rhs: Condition) -> Condition {
    Condition(predicate: NSCompoundPredicate(orPredicateWithSubpredicates: [lhs.predicate, rhs.predicate]))
  }
  public static prefix func ! (condition: Condition) -> Condition {
    Condition(predicate: NSCompoundPredicate(notPredicateWithSubpredicate: condition.predicate))
  }
}

extension KeyPath where Root: NSManagedObject {
  public var string: String { NSExpression(forKeyPath: self).keyPath }

  func compare(_ op: NSComparisonPredicate.Operator, _ value: Any?, options: NSComparisonPredicate.Options = [])
    -> NSPredicate
  {
    let left = NSExpression(forKeyPath: self)
    let right = NSExpression(forConstantValue: value)
    return NSComparisonPredicate(
      leftExpression: left, rightExpression: right, modifier: .direct, type: op, options: options)
  }
}

public func == <Root: NSManagedObject, Value: Equatable>(lhs: KeyPath<Root, Value>, rhs: Value) -> Condition<Root> {
  Condition(predicate: lhs.compare(.equalTo, rhs))
}
public func > <Root: NSManagedObject, Value: Comparable>(lhs: KeyPath<Root, Value>, rhs: Value) -> Condition<Root> {
  Condition(predicate: lhs.compare(.greaterThan, rhs))
}
public func << <Root: NSManagedObject, Value: Equatable>(lhs: KeyPath<Root, Value>, rhs: [Value]) -> Condition<Root> {
  Condition(predicate: lhs.compare(.in, rhs))
}

extension NSPredicate {
  public static func && (left: NSPredicate, right: NSPredicate) -> NSPredicate {
    NSCompoundPredicate(andPredicateWithSubpredicates: [left, right])
  }
  public static func || (left: NSPredicate, right: NSPredicate) -> NSPredicate {
    NSCompoundPredicate(orPredicateWithSubpredicates: [left, right])
  }
  public static prefix func ! (predicate: NSPredicate) -> NSPredicate {
    NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
  }
  public static var alwaysTrue: NSPredicate { NSPredicate(value: true) }
  public static func contains(_ key: String, _ text: String) -> NSPredicate {
    NSPredicate(format: "%K CONTAINS[cd] %@", argumentArray: [key, text])
  }
}

public enum Queries {
  public static func all(now: Date = Date()) -> [(String, NSPredicate)] {
    [
      ("cheap", NSPredicate(format: "price < %@", NSDecimalNumber(value: 5))),
      ("literal", NSPredicate(format: "price < 5.5 AND stock != nil")),
      ("between", NSPredicate(format: "stock BETWEEN { %d, %d }", 1, 10)),
      ("between array", NSPredicate(format: "stock BETWEEN %@", [1, 10])),
      ("in", NSPredicate(format: "sku IN %@", ["a", "b"])),
      ("in set", NSPredicate(format: "sku IN %@", Set(["a", "b"]))),
      ("in literal", NSPredicate(format: "sku IN {'a', 'b'}")),
      ("not in", NSPredicate(format: "NOT (sku IN %@)", ["a"] as NSArray)),
      ("like", NSPredicate(format: "title LIKE[c] %@", "*ea*")),
      ("matches", NSPredicate(format: "title MATCHES %@", "[A-Z].*")),
      ("begins", NSPredicate(format: "%K BEGINSWITH[cd] %@", #keyPath(Product.title), "t")),
      ("nil", NSPredicate(format: "title == nil")),
      ("not nil", NSPredicate(format: "%K != NULL", "title")),
      ("nsnull", NSPredicate(format: "title != %@", NSNull())),
      ("bool", NSPredicate(format: "shop.isOpen == YES")),
      ("bool number", NSPredicate(format: "shop.isOpen == %@", NSNumber(value: true))),
      ("bool cvar", NSPredicate(format: "shop.isOpen == %i", 1)),
      ("date", NSPredicate(format: "modifiedAt <= %@ OR modifiedAt == nil", now as NSDate)),
      ("count", NSPredicate(format: "notes.@count > 0")),
      ("any", NSPredicate(format: "ANY notes.text CONTAINS %@", "good")),
      ("none", NSPredicate(format: "NONE notes.text == 'bad'")),
      (
        "subquery",
        NSPredicate(
          format: "SUBQUERY(notes, $note, $note.text CONTAINS[c] %@ AND $note.product != nil).@count >= 1", "good")
      ),
      ("truth", NSPredicate(format: "TRUEPREDICATE")),
      ("long", NSPredicate(format: "stock >= %ld AND stock <= %lu", 1, UInt(10))),
      ("long long", NSPredicate(format: "stock == %lld", Int64(3))),
      ("double", NSPredicate(format: "shop.rating > %f", 1.5)),
      ("string", NSPredicate(format: "sku == %@ && title ==[c] %@", "a" as NSString, "tea")),
      ("kind of", NSPredicate(format: "entity.name == %@", "Product")),
      ("arithmetic", NSPredicate(format: "stock + 1 > 3")),
      ("ternary-free", NSPredicate(format: "(stock > 0 AND shop != nil) OR (stock == nil)")),
    ]
  }
}
