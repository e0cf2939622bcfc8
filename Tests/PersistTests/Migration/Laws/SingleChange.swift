import Testing

@testable import Persist
@testable import PersistModel

/// Two small models with a single difference.
struct SingleChange: CustomTestStringConvertible {
  let name: String
  let old: HierarchyModel
  let new: HierarchyModel

  var testDescription: String { name }

  init(_ name: String, _ old: HierarchyModel, _ edit: (inout HierarchyModel) -> Void) {
    (self.name, self.old) = (name, old)
    var new = old
    edit(&new)
    self.new = new
  }

  private init(_ name: String, old: HierarchyModel, new: HierarchyModel) {
    (self.name, self.old, self.new) = (name, old, new)
  }

  /// The reverse change.
  var back: SingleChange {
    // Renamed properties get their old names back.
    var (old, new) = (new, old)
    if old.was != nil { (new.was, old.was) = (old.name, nil) }
    if old.inverseWas != nil { (new.inverseWas, old.inverseWas) = (old.inverseName, nil) }
    if old.attributeWas != nil { (new.attributeWas, old.attributeWas) = (old.attributeName, nil) }
    return SingleChange("\(name), back", old: old, new: new)
  }

  static let all: [SingleChange] = {
    let forward = kinds + places + attributes
    return forward + forward.map(\.back)
  }()

  private typealias Edit = (name: String, edit: (inout HierarchyModel) -> Void)

  // MARK: Hierarchies

  private static var hierarchies: [Edit] {
    [
      ("an entity moves up", { $0.owners["Kitten"] = "Root" }),
      ("an entity moves aside", { $0.owners["Kitten"] = "Dog" }),
      ("an entity leaves its hierarchy", { $0.owners["Kitten"] = .some(nil) }),
      ("an inner entity leaves its hierarchy", { $0.owners["Cat"] = .some(nil) }),
      (
        "a new level",
        {
          $0.owners["Feline"] = "Root"
          $0.owners["Cat"] = "Feline"
        }
      ),
      (
        "a new abstract level",
        {
          $0.owners["Feline"] = "Root"
          $0.owners["Cat"] = "Feline"
          $0.abstract = ["Feline"]
        }
      ),
      (
        "a level goes",
        {
          $0.owners["Cat"] = nil
          $0.owners["Kitten"] = "Root"
        }
      ),
      (
        "the root goes",
        {
          $0.owners["Root"] = nil
          $0.owners["Cat"] = .some(nil)
          $0.owners["Dog"] = .some(nil)
        }
      ),
      (
        "a new base",
        {
          $0.owners["Base"] = .some(nil)
          $0.owners["Root"] = "Base"
        }
      ),
      ("an entity goes", { $0.owners["Dog"] = nil }),
      ("a new entity", { $0.owners["Bird"] = "Root" }),
    ]
  }

  private static var memberHierarchies: [Edit] {
    [
      ("a member's entity moves up", { $0.members["Boss"] = "Person" }),
      ("a member's entity leaves", { $0.members["Boss"] = .some(nil) }),
      ("a member's entity goes", { $0.members["Boss"] = nil }),
      (
        "a level of the members goes",
        {
          $0.members["Worker"] = nil
          $0.members["Boss"] = "Person"
        }
      ),
    ]
  }

  private static let moves: [(name: String, from: [String], to: [String])] = [
    ("down", ["Root"], ["Cat"]), ("down to two", ["Root"], ["Cat", "Dog"]), ("far down", ["Root"], ["Kitten"]),
    ("aside", ["Cat"], ["Dog"]), ("from one side", ["Cat", "Dog"], ["Cat"]),
  ]

  // MARK: Relationships

  private static func relationship(_ kind: HierarchyModel.Kind, isSelf: Bool = false) -> HierarchyModel {
    var model = HierarchyModel()
    model.kind = kind
    model.isSelf = isSelf
    if isSelf { model.destination = "Root" }
    return model
  }

  private static var related: [HierarchyModel.Kind] { HierarchyModel.Kind.allCases.filter { $0 != .none } }

  /// Every kind of relationship becomes every other, and is removed.
  private static var kinds: [SingleChange] {
    let all = HierarchyModel.Kind.allCases
    return all.enumerated().flatMap { position, first in
      all.dropFirst(position + 1).map { second in
        SingleChange("\(first) → \(second)", relationship(first)) { $0.kind = second }
      }
    }
  }

  /// Every kind of relationship remains while its surroundings change.
  private static var places: [SingleChange] {
    related.flatMap { kind -> [SingleChange] in
      let plain = relationship(kind)
      let own = relationship(kind, isSelf: true)
      var found = (hierarchies + memberHierarchies).map { SingleChange("\(kind): \($0.name)", plain, $0.edit) }
      found += hierarchies.filter { $0.name != "the root goes" }.map {
        SingleChange("\(kind) among themselves: \($0.name)", own, $0.edit)
      }
      for move in moves {
        var model = plain
        model.declaring = move.from
        found.append(SingleChange("\(kind) moves \(move.name)", model) { $0.declaring = move.to })
      }
      found.append(SingleChange("\(kind): narrower destination", plain) { $0.destination = "Worker" })
      found.append(
        SingleChange("\(kind) moves down, narrower destination", plain) {
          $0.declaring = ["Cat"]
          $0.destination = "Boss"
        })
      found.append(
        SingleChange("\(kind) moves down under another name", plain) {
          ($0.name, $0.was, $0.declaring) = ("pals", "friends", ["Cat"])
        })
      found.append(SingleChange("\(kind) is renamed", plain) { ($0.name, $0.was) = ("pals", "friends") })
      if kind.inverse != nil {
        found.append(
          SingleChange("\(kind): the inverse is renamed", plain) { ($0.inverseName, $0.inverseWas) = ("home", "back") })
        found.append(SingleChange("\(kind): another inverse", plain) { $0.inverseName = "home" })
      }
      return found
    }
  }

  // MARK: Attributes

  private static var attributes: [SingleChange] {
    let pairs: [(AttributeType, AttributeType)] = [
      (.string, .string), (.string, .int16), (.int16, .int32), (.int32, .int16), (.int16, .double), (.string, .uri),
      (.date, .double), (.int64, .decimal), (.binary, .string),
    ]
    return pairs.flatMap { from, to -> [SingleChange] in
      var found = moves.map { move in
        var model = HierarchyModel()
        for entity in move.from { model.attribute[entity] = from }
        return SingleChange("\(from) moves \(move.name) as \(to)", model) { model in
          model.attribute = Dictionary(move.to.map { ($0, to) }, uniquingKeysWith: { first, _ in first })
        }
      }
      var cat = HierarchyModel()
      cat.attribute = ["Cat": from]
      found.append(
        SingleChange("\(from) in a new base as \(to)", cat) {
          $0.owners["Base"] = .some(nil)
          $0.owners["Root"] = "Base"
          $0.attribute = ["Base": to]
        })
      found.append(
        SingleChange("\(from) in a new level as \(to), renamed", cat) {
          $0.owners["Feline"] = "Root"
          $0.owners["Cat"] = "Feline"
          ($0.attribute, $0.attributeName, $0.attributeWas) = (["Feline": to], "content", "value")
        })
      var kitten = HierarchyModel()
      kitten.attribute = ["Kitten": from, "Dog": to]
      found.append(
        SingleChange("\(from) comes below a \(to) of the same name", kitten) {
          $0.owners["Kitten"] = "Dog"
          $0.attribute["Kitten"] = nil
        })
      var two = HierarchyModel()
      two.attribute = ["Cat": from, "Dog": to]
      found.append(SingleChange("\(from) and \(to) move up to one", two) { $0.attribute = ["Root": to] })
      return found
    }
  }
}
