import Foundation

@testable import Persist
@testable import PersistModel

/// Makes keyed archives as Apple's archiver writes them, for contents that no available real file has.
final class ArchiveBuilder {
  private var objects: [PropertyList] = [.string("$null")]
  private var classes: [String: PropertyList] = [:]

  static let null = PropertyList.uid(0)

  func add(_ value: PropertyList) -> PropertyList {
    objects.append(value)
    return .uid(UInt64(objects.count - 1))
  }

  func text(_ text: String) -> PropertyList { add(.string(text)) }

  func object(_ name: String, _ members: [String: PropertyList] = [:], parents: [String] = []) -> PropertyList {
    let known = classes[name] ?? add(.dictionary([
      "$classname": .string(name), "$classes": .array(([name] + parents + ["NSObject"]).map(PropertyList.string)),
    ]))
    classes[name] = known
    return add(.dictionary(members.merging(["$class": known]) { first, _ in first }))
  }

  func list(_ elements: [PropertyList], set: Bool = false) -> PropertyList {
    object(set ? "NSSet" : "NSArray", ["NS.objects": .array(elements)])
  }

  func dictionary(_ entries: [String: PropertyList]) -> PropertyList {
    let sorted = entries.sorted { $0.key < $1.key }
    return object(
      "NSDictionary", ["NS.keys": .array(sorted.map { text($0.key) }), "NS.objects": .array(sorted.map(\.value))])
  }

  func archive(root: PropertyList) -> PropertyList {
    .dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000), "$top": .dictionary(["root": root]),
      "$objects": .array(objects),
    ])
  }

  func data(root: PropertyList) throws -> Data { try archive(root: root).binaryData() }
}

extension ArchiveBuilder {
  var selfExpression: PropertyList { object("NSSelfExpression", ["NSExpressionType": .integer(1)]) }

  func constant(_ value: PropertyList) -> PropertyList {
    object("NSConstantValueExpression", ["NSExpressionType": .integer(0), "NSConstantValue": value])
  }

  func variable(_ name: String) -> PropertyList {
    object("NSVariableExpression", ["NSExpressionType": .integer(2), "NSVariable": text(name)])
  }

  func keyPath(_ path: String, of operand: PropertyList? = nil) -> PropertyList {
    let specifier = object("NSKeyPathSpecifierExpression", ["NSExpressionType": .integer(10), "NSKeyPath": text(path)])
    return object(
      "NSKeyPathExpression",
      [
        "NSExpressionType": .integer(4), "NSSelectorName": text("valueForKeyPath:"),
        "NSArguments": list([specifier]), "NSOperand": operand ?? selfExpression,
      ])
  }

  /// A function of the predicate language, or, with an operand, a message to it.
  func function(_ selector: String, _ arguments: [PropertyList], of operand: PropertyList? = nil) -> PropertyList {
    let language = { self.object(
      "NSConstantValueExpression",
      ["NSExpressionType": .integer(0), "NSConstantValueClassName": self.text("_NSPredicateUtilities")]) }
    return object(
      "NSFunctionExpression",
      [
        "NSExpressionType": .integer(4), "NSSelectorName": text(selector), "NSArguments": list(arguments),
        "NSOperand": operand ?? language(),
      ])
  }

  func comparison(
    _ left: PropertyList, _ type: Int64, _ right: PropertyList, modifier: Int64 = 0, options: Int64 = 0
  ) -> PropertyList {
    let operation = object(
      "NSComparisonPredicateOperator",
      ["NSOperatorType": .integer(type), "NSModifier": .integer(modifier), "NSOptions": .integer(options)])
    return object(
      "NSComparisonPredicate",
      ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": operation])
  }

  func compound(_ type: Int64, _ parts: [PropertyList]) -> PropertyList {
    object("NSCompoundPredicate", ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": list(parts)])
  }

  func attribute(
    _ name: String, _ type: Int64, class className: String = "NSAttributeDescription",
    _ more: [String: PropertyList] = [:]
  ) -> PropertyList {
    let members: [String: PropertyList] = [
      "NSPropertyName": text(name), "NSRenamingIdentifier": text(name), "NSAttributeType": .integer(type),
      "NSIsOptional": .boolean(true), "NSFlagsKey": .integer(0), "_P": .integer(243),
    ]
    return object(
      className, members.merging(more) { $1 }, parents: ["NSAttributeDescription", "NSPropertyDescription"])
  }

  func entity(
    _ name: String, _ properties: [String: PropertyList], _ more: [String: PropertyList] = [:]
  ) -> PropertyList {
    let members = [
      "NSEntityName": text(name), "NSRenamingIdentifier": text(name), "NSProperties": dictionary(properties),
    ]
    return object("NSEntityDescription", members.merging(more) { $1 })
  }

  func model(_ entities: [String: PropertyList], _ more: [String: PropertyList] = [:]) throws -> ModelDescription {
    let members = ["NSEntities": dictionary(entities)]
    let root = object("NSManagedObjectModel", members.merging(more) { $1 })
    return try XcodeModelArchive.model(fromArchive: data(root: root)).description
  }
}
