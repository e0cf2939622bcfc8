/// The conditions of one uniqueness constraint in a model's JSON.
struct ConditionsOfConstraint {
  let names: [String]
  let conditions: [UniquenessCondition]
}

extension ConditionsOfConstraint {
  init(json fields: inout JSONFields) throws {
    self.init(
      names: try fields.texts("properties"),
      conditions: try fields.objects("conditions", UniquenessCondition.init(json:)))
  }

  var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("properties", names.map(JSONElement.string))
    object.set("conditions", conditions.map(\.jsonValue))
    return object.value
  }
}

extension UniquenessCondition {
  fileprivate init(json fields: inout JSONFields) throws {
    let attribute = try fields.requiredText("attribute")
    let test: Test? =
      switch fields.value("equals") {
      case .integer(let number)?: .integer(number)
      case .boolean(let flag)?: .boolean(flag)
      case .null?: .isNil
      case nil: try fields.flag("isNil", default: true) ? .isNil : .isNotNil
      default: nil
      }
    guard let test else { throw fields.error("equals", "Expected an integer, a Boolean or null.") }
    self.init(attribute, test)
  }

  fileprivate var jsonValue: JSONElement {
    var members: [String: JSONElement] = ["attribute": .string(attribute)]
    switch test {
    case .isNil: members["isNil"] = .boolean(true)
    case .isNotNil: members["isNil"] = .boolean(false)
    case .integer(let number): members["equals"] = .integer(number)
    case .boolean(let flag): members["equals"] = .boolean(flag)
    }
    return .object(members)
  }
}
