extension XMLModelReader {
  static func attributeType(_ name: String) -> AttributeType? {
    if let type = AttributeType.allCases.first(where: { $0.traits.xcodeName == name }) { return type }
    func plain(_ name: String) -> String { name.filter { $0 != " " }.lowercased() }
    let name = plain(name)
    return name == "binarydata" ? .binary : AttributeType.allCases.first { plain($0.traits.xcodeName) == name }
  }

  func attribute(_ element: MarkupElement) -> AttributeDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    let typeName = fields.text("attributeType") ?? "Undefined"
    guard let type = Self.attributeType(typeName) else {
      fields.report(
        "'attributeType' is '\(typeName)', which isn't an attribute type.",
        fix: "Expected one of " + AttributeType.allCases.map(\.traits.xcodeName).joined(separator: ", ") + ".")
      return nil
    }
    return attribute(name, type, from: &fields)
  }

  /// Reads an attribute with a separate kind of element because it is composite.
  func compositeAttribute(_ element: MarkupElement) -> AttributeDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    _ = fields.text("attributeType")
    return attribute(name, .composite, from: &fields)
  }

  private func attribute(
    _ name: String, _ type: AttributeType, from fields: inout XMLFields
  ) -> AttributeDescription {
    var attribute = AttributeDescription(
      name, type, isOptional: fields.flag("optional"), isTransient: fields.layoutFlag("transient"),
      renamingIdentifier: fields.text("elementID"), versionHashModifier: fields.text("versionHashModifier"),
      userInfo: fields.userInfo(), valueClassName: fields.text("customClassName", "attributeValueClassName"),
      valueTransformerName: fields.text("valueTransformerName"),
      allowsExternalStorage: fields.layoutFlag("allowsExternalBinaryDataStorage"),
      preservesValueOnDeletion: fields.flag("preserveAfterDeletion", "preservesValueInHistoryOnDeletion"),
      usesScalarType: fields.flag("usesScalarValueType"), isIndexed: fields.flag("indexed"),
      isIndexedBySpotlight: fields.flag("spotlightIndexingEnabled"),
      allowsCloudEncryption: fields.flag("allowsCloudEncryption"))
    attribute.derivation = derivation(from: &fields)
    if type == .composite {
      attribute.compositeName = fields.text(
        "compositeName", "compositeType", "compositeTypeName", "composite", "compositeEntity", "type")
    }
    attribute.defaultValue = defaultValue(of: type, from: &fields)
    attribute.validation = validation(of: type, from: &fields)
    for child in fields.element.children where child.name != "userInfo" { fields.keepUnknown(child) }
    attribute.unknown = fields.unknown
    return attribute
  }

  private func derivation(from fields: inout XMLFields) -> String? {
    let isDerived = fields.flag("derived")
    guard let expression = fields.text("derivationExpression") else {
      if isDerived {
        fields.warn(
          "The attribute is derived, but has no 'derivationExpression', so it is an ordinary one.",
          fix: "Set the expression in Xcode.")
      }
      return nil
    }
    // Xcode leaves the expression in place when the attribute is no longer derived.
    return isDerived || fields.element.attributes["derived"] == nil ? expression : nil
  }

  private func defaultValue(of type: AttributeType, from fields: inout XMLFields) -> StoredValue {
    if type == .date {
      guard let text = fields.text("defaultDateTimeInterval") else { return .null }
      if let value = XcodeValueText.date(text) { return value }
      fields.ignore(
        "defaultDateTimeInterval", of: text,
        consequence: "expected seconds since 2001, so the attribute has no default.")
      return .null
    }
    // The format has no text for values of other types; if one exists nevertheless, it is preserved as unknown.
    guard type.traits.hasTextDefault, let text = fields.verbatim("defaultValueString") else {
      return .null
    }
    if text.isEmpty && type != .string { return .null }
    if let value = XcodeValueText.value(text, of: type) { return value }
    fields.ignore(
      "defaultValueString", of: text,
      consequence: "that isn't a value of type \(type.rawValue), so the attribute has no default.")
    return .null
  }

  private func validation(of type: AttributeType, from fields: inout XMLFields) -> AttributeValidation {
    var validation = AttributeValidation()
    switch type {
    case .string:
      validation.minimumLength = fields.count("minValueString")
      validation.maximumLength = fields.count("maxValueString")
      validation.pattern = fields.text("regularExpressionString")
    case .date:
      validation.minimum = limit("minDateTimeInterval", from: &fields, as: XcodeValueText.date)
      validation.maximum = limit("maxDateTimeInterval", from: &fields, as: XcodeValueText.date)
    case .int16, .int32, .int64, .decimal, .double, .float, .boolean:
      validation.minimum = limit("minValueString", from: &fields) { XcodeValueText.limit($0, of: type) }
      validation.maximum = limit("maxValueString", from: &fields) { XcodeValueText.limit($0, of: type) }
    case .binary, .uuid, .uri, .transformable, .composite, .objectID, .undefined: break
    }
    return validation
  }

  @inline(never)
  private func limit(
    _ key: String, from fields: inout XMLFields, as value: (String) -> StoredValue?
  ) -> StoredValue? {
    guard let text = fields.text(key) else { return nil }
    if let value = value(text) { return value }
    fields.ignore(key, of: text, consequence: "expected a number, so it has no effect.")
    return nil
  }
}
