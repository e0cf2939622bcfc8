import Foundation

extension AttributeType {
  /// Reads the member `type`.
  init(json fields: inout JSONFields) throws {
    let name = try fields.requiredText("type")
    guard let type = AttributeType(rawValue: name) else {
      let known = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw fields.error("type", "'\(name)' isn't an attribute type.", fix: "Expected one of \(known).")
    }
    self = type
  }
}

extension AttributeDescription {
  init(json fields: inout JSONFields) throws {
    let type = try AttributeType(json: &fields)
    self.init(try fields.requiredText("name"), type)
    isOptional = try fields.flag("optional", default: true)
    isTransient = try fields.flag("transient", default: false)
    defaultValue = try StoredValue(json: "default", of: &fields, type: type) ?? .null
    compositeName = try fields.text("composite")
    derivation = try fields.text("derivation")
    renamingIdentifier = try fields.text("renamingIdentifier")
    versionHashModifier = try fields.text("versionHashModifier")
    userInfo = try fields.textMap("userInfo")
    valueClassName = try fields.text("valueClass")
    valueTransformerName = try fields.text("valueTransformer")
    allowsExternalStorage = try fields.flag("externalStorage", default: false)
    preservesValueOnDeletion = try fields.flag("preservedOnDeletion", default: false)
    validation = try fields.object("validation") { try AttributeValidation(json: &$0, type: type) } ?? validation
    usesScalarType = try fields.flag("scalar", default: false)
    isIndexed = try fields.flag("indexed", default: false)
    isIndexedBySpotlight = try fields.flag("spotlight", default: false)
    allowsCloudEncryption = try fields.flag("cloudEncryption", default: false)
    unknown = try fields.textMap("unknown")
  }

  var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("name", name)
    object.set("type", type.rawValue)
    object.set("optional", isOptional, unless: true)
    object.set("transient", isTransient, unless: false)
    if !defaultValue.isNull { object.set("default", defaultValue.jsonValue(as: type)) }
    object.set("composite", compositeName)
    object.set("derivation", derivation)
    object.set("renamingIdentifier", renamingIdentifier)
    object.set("versionHashModifier", versionHashModifier)
    object.set("userInfo", texts: userInfo)
    object.set("valueClass", valueClassName)
    object.set("valueTransformer", valueTransformerName)
    object.set("externalStorage", allowsExternalStorage, unless: false)
    object.set("preservedOnDeletion", preservesValueOnDeletion, unless: false)
    if !validation.isEmpty { object.set("validation", validation.jsonValue(as: type)) }
    object.set("scalar", usesScalarType, unless: false)
    object.set("indexed", isIndexed, unless: false)
    object.set("spotlight", isIndexedBySpotlight, unless: false)
    object.set("cloudEncryption", allowsCloudEncryption, unless: false)
    object.set("unknown", texts: unknown)
    return object.value
  }
}

extension AttributeValidation {
  fileprivate init(json fields: inout JSONFields, type: AttributeType) throws {
    self.init(
      minimum: try StoredValue(json: "minimum", of: &fields, type: type),
      maximum: try StoredValue(json: "maximum", of: &fields, type: type),
      minimumLength: try fields.integer("minimumLength"), maximumLength: try fields.integer("maximumLength"),
      pattern: try fields.text("pattern"),
      rules: try fields.objects("rules") { fields in
        Rule(predicate: try fields.requiredText("predicate"), warning: try fields.text("warning"))
      })
  }

  fileprivate func jsonValue(as type: AttributeType) -> JSONElement {
    var object = JSONObjectBuilder()
    object.set("minimum", minimum?.jsonValue(as: type))
    object.set("maximum", maximum?.jsonValue(as: type))
    object.set("minimumLength", minimumLength)
    object.set("maximumLength", maximumLength)
    object.set("pattern", pattern)
    object.set("rules", rules.map { rule in
      var object = JSONObjectBuilder()
      object.set("predicate", rule.predicate)
      object.set("warning", rule.warning)
      return object.value
    })
    return object.value
  }
}

extension DeleteRule {
  fileprivate var jsonName: String {
    switch self {
    case .noAction: "noAction"
    case .nullify: "nullify"
    case .cascade: "cascade"
    case .deny: "deny"
    }
  }
}

extension RelationshipDescription {
  init(json fields: inout JSONFields) throws {
    self.init(
      name: try fields.requiredText("name"), destination: try fields.requiredText("destination"),
      inverse: try fields.text("inverse"), minimumCount: try fields.integer("minimumCount") ?? 0,
      maximumCount: try fields.integer("maximumCount") ?? 0)
    isOptional = try fields.flag("optional", default: true)
    isTransient = try fields.flag("transient", default: false)
    isOrdered = try fields.flag("ordered", default: false)
    if let name = try fields.text("deleteRule") {
      guard let rule = DeleteRule.allCases.first(where: { $0.jsonName == name }) else {
        throw fields.error(
          "deleteRule", "'\(name)' isn't a delete rule; expected nullify, cascade, deny or noAction.")
      }
      deleteRule = rule
    }
    renamingIdentifier = try fields.text("renamingIdentifier")
    versionHashModifier = try fields.text("versionHashModifier")
    userInfo = try fields.textMap("userInfo")
    isIndexedBySpotlight = try fields.flag("spotlight", default: false)
    unknown = try fields.textMap("unknown")
  }

  var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("name", name)
    object.set("destination", destination)
    object.set("inverse", inverse)
    object.set("minimumCount", minimumCount, unless: 0)
    object.set("maximumCount", maximumCount, unless: 0)
    object.set("optional", isOptional, unless: true)
    object.set("transient", isTransient, unless: false)
    object.set("ordered", isOrdered, unless: false)
    if deleteRule != .nullify { object.set("deleteRule", deleteRule.jsonName) }
    object.set("renamingIdentifier", renamingIdentifier)
    object.set("versionHashModifier", versionHashModifier)
    object.set("userInfo", texts: userInfo)
    object.set("spotlight", isIndexedBySpotlight, unless: false)
    object.set("unknown", texts: unknown)
    return object.value
  }
}

extension FetchedPropertyDescription {
  init(json fields: inout JSONFields) throws {
    let name = try fields.requiredText("name")
    guard let request = try fields.object("request", FetchRequestDescription.init(json:)) else {
      throw fields.error("request", "The key 'request' is missing.")
    }
    self.init(
      name, request: request, isOptional: try fields.flag("optional", default: true),
      renamingIdentifier: try fields.text("renamingIdentifier"), userInfo: try fields.textMap("userInfo"),
      unknown: try fields.textMap("unknown"))
  }

  var jsonValue: JSONElement {
    var object = JSONObjectBuilder()
    object.set("name", name)
    object.set("request", request.jsonValue)
    object.set("optional", isOptional, unless: true)
    object.set("renamingIdentifier", renamingIdentifier)
    object.set("userInfo", texts: userInfo)
    object.set("unknown", texts: unknown)
    return object.value
  }
}
