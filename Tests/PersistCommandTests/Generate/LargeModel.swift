/// A model of 88 entities with every construct of model files: those of real applications, and difficult ones.
enum LargeModel {
  static let entityCount = 88

  static let contents = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \
    userDefinedModelVersionIdentifier="7">
    \((entities + [composites, rest]).joined(separator: "\n"))
    </model>
    """

  /// A source file of the user's own: the types that the model names.
  static let ownTypes = """
    import Foundation
    public import Persist
    public import PersistMacrosless

    public nonisolated enum Size: Swift.String, StorableValue { case small, large }
    public nonisolated enum Rank: Swift.Int, StorableValue { case low, high }
    public nonisolated class Sketch: ManagedObject { var title: Swift.String { caption ?? "none" } }
    """

  private static let entities =
    [everything, places] + reservedNames + typeNames + chain(of: 12) + tree + network(of: 20) + sections(of: 24) + odd

  // MARK: Attributes of every type

  private static let types = [
    "Integer 16": "7", "Integer 32": "-8", "Integer 64": "9000000000", "Decimal": "10.11", "Double": "2.5",
    "Float": "-0.5", "String": "a &quot;b&quot; \\ c", "Boolean": "YES", "Date": "", "Binary": "", "UUID": "",
    "URI": "",
  ]

  private static let everything = entity(
    "Everything",
    types.sorted { $0.key < $1.key }.map { type, standard in
      let name = type.filter { $0 != " " }
      let value = standard.isEmpty ? "" : #"defaultValueString="\#(standard)""#
      return [
        attribute("required\(name)", type, #"usesScalarValueType="YES" \#(value)"#),
        attribute("given\(name)", type, value),
        attribute("optional\(name)", type, #"optional="YES" usesScalarValueType="NO" \#(value)"#),
        attribute("scalar\(name)", type, #"optional="YES" usesScalarValueType="YES""#),
        attribute("passing\(name)", type, #"optional="YES" transient="YES" usesScalarValueType="YES""#),
      ].joined()
    }.joined()
      + attribute("since", "Date", #"defaultDateTimeInterval="86400" usesScalarValueType="NO""#)
      + attribute("anything", "Transformable", #"optional="YES""#)
      + attribute(
        "names", "Transformable",
        #"optional="YES" valueTransformerName="NSSecureUnarchiveFromData" customClassName="[String]""#)
      + attribute("map", "Transformable", #"optional="YES" customClassName="NSDictionary""#)
      + attribute("size", "String", #"defaultValueString="small""#, userInfo: ["swiftType": "Size"])
      + attribute("otherSize", "String", #"optional="YES""#, userInfo: ["swiftType": "Size"])
      + attribute("rank", "Integer 16", #"defaultValueString="1""#, userInfo: ["swiftType": "Rank"])
      + attribute("ranks", "Transformable", #"optional="YES""#, userInfo: ["swiftType": "[Int: [String]]"])
      + attribute("initial", "String", #"optional="YES" derived="YES" derivationExpression="requiredString""#)
      + attribute("total", "Integer 64", #"optional="YES" derived="YES" derivationExpression="places.@count""#)
      + composite("home", "Address", optional: false) + composite("second", "Address", optional: true)
      + relationship("places", to: "Place", inverse: "owner", #"toMany="YES" ordered="YES" deletionRule="Cascade""#)
      + """
      <fetchedProperty name="largePlaces" optional="YES"><fetchRequest name="fetchedPropertyFetchRequest" \
      entity="Place" predicateString="zip != nil"/></fetchedProperty>
      """)

  /// Properties with names that generated code uses.
  private static let places = entity(
    "Place",
    [
      "zip", "data", "date", "decimal", "double", "integer", "string", "uuid", "value", "values", "index", "indexes",
      "toOne", "toMany", "fetched", "newValue", "attributeValue", "setAttributeValue", "slot", "hash", "stored",
      "parts",
    ].map { attribute($0, "String", #"optional="YES""#) }.joined()
      + relationship("owner", to: "Everything", inverse: "places")
      + relationship("others", to: "Place", inverse: "others", #"toMany="YES" ordered="YES""#)
      + relationship("neighbour", to: "Place", inverse: nil))

  private static let composites = """
    <composite name="Address">
    \(attribute("street", "String", #"optional="YES""#))\(attribute("default", "Integer 16", #"optional="YES""#))
    \(attribute("since", "Date", #"optional="YES""#))\(attribute("page", "URI", #"optional="YES""#))
    \(composite("point", "Point", optional: true))
    </composite>
    <composite name="Point">
    \(attribute("x", "Double", #"optional="YES""#))\(attribute("y", "Float", #"optional="YES""#))
    \(["stored", "parts", "self", "hashValue", "value"].map { attribute($0, "String", #"optional="YES""#) }.joined())
    </composite>
    """

  // MARK: Names

  /// Entities and properties with reserved words as names.
  private static let reservedNames = ["Type", "Protocol", "Any", "default"].map { name in
    entity(
      name,
      [
        "class", "default", "extension", "func", "in", "init", "is", "let", "operator", "protocol", "public", "repeat",
        "return", "self", "static", "struct", "switch", "throws", "type", "where", "Type", "Any", "any", "some",
        "actor",
        "description", "objectID", "entity", "isDeleted", "hasChanges", "managedObjectContext", "changedValues",
      ].map { attribute($0, "String", #"optional="YES""#) }.joined(),
      #"representedClassName="\#(name)" codeGenerationType="class""#)
  }

  /// Entities that hide types named in generated code.
  private static let typeNames = [
    "Date", "Data", "String", "Int", "Sequence", "Identifiable", "Decimal", "FetchRequest", "StoredValue", "IndexSet",
  ].map { name in
    entity(
      name,
      attribute("id", "UUID", #"optional="YES""#) + attribute("date", "Date", #"optional="YES""#)
        + attribute("data", "Binary", "") + attribute("price", "Decimal", "")
        + attribute("Date", "Date", #"optional="YES""#) + attribute("String", "String", #"optional="YES""#)
        + relationship("next", to: name, inverse: "previous", #"toMany="YES" ordered="YES""#)
        + relationship("previous", to: name, inverse: "next"))
  }

  private static let odd: [String] = [
    entity(
      "Parcel",
      attribute("weight", "Double", #"minValueString="0" maxValueString="31.5""#)
        + attribute("code", "String", #"minValueString="3" maxValueString="9" regularExpressionString="[A-Z]+""#)
        + attribute("photo", "Binary", #"optional="YES" allowsExternalBinaryDataStorage="YES""#),
      #"representedClassName=".ParcelMO" codeGenerationType="class" elementID="Packet""#,
      more: """
        <uniquenessConstraints><uniquenessConstraint><constraint value="code"/></uniquenessConstraint>\
        </uniquenessConstraints>
        <fetchIndex name="byWeight"><fetchIndexElement property="weight" type="Binary" order="descending"/></fetchIndex>
        """),
    entity(
      "Letter",
      attribute("text", "String", #"defaultValueString="""#, userInfo: ["documentation": "Two&#10;lines */ `"]),
      #"representedClassName="Post.Letter" codeGenerationType="class""#),
    entity("Sketch", attribute("caption", "String", #"optional="YES""#), #"codeGenerationType="category""#),
    entity("Manual", attribute("text", "String", #"optional="YES""#), #"representedClassName="Manual""#),
    entity("Plain", attribute("text", "String", #"optional="YES""#), #"representedClassName="NSManagedObject""#),
    entity(
      "Größe", attribute("maß", "Double", "") + attribute("naïve", "Boolean", #"usesScalarValueType="YES""#),
      #"representedClassName="Größe" codeGenerationType="class""#),
    entity("with_line", attribute("_private", "String", #"optional="YES""#), #"codeGenerationType="class""#),
  ]

  // MARK: Shapes

  /// A chain of inheritance, each level with properties of its own and the first ones abstract.
  private static func chain(of count: Int) -> [String] {
    (0..<count).map { level in
      entity(
        "Level\(level)",
        attribute("number\(level)", "Integer 32", #"defaultValueString="\#(level)" usesScalarValueType="YES""#)
          + attribute("a\(level)", "String", #"optional="YES""#)
          + relationship("peer\(level)", to: "Level\(level)", inverse: "peer\(level)"),
        (level == 0 ? "" : #"parentEntity="Level\#(level - 1)" "#) + (level < 3 ? #"isAbstract="YES" "# : "")
          + #"representedClassName="Level\#(level)" codeGenerationType="class""#)
    }
  }

  /// A parent with many children, in two levels, whose siblings have properties with the same name.
  private static let tree: [String] =
    [
      entity(
        "Node", attribute("name", "String", #"defaultValueString="node""#),
        #"isAbstract="YES" codeGenerationType="class""#)
    ] + (0..<4).flatMap { index in
      [
        entity(
          "Branch\(index)", attribute("kind", "String", #"optional="YES""#),
          #"parentEntity="Node" codeGenerationType="class""#),
        entity(
          "Leaf\(index)", attribute("colour", "Integer 16", #"usesScalarValueType="YES""#),
          #"parentEntity="Branch\#(index)" codeGenerationType="class""#),
      ]
    }

  /// Entities that are each related to the next, one to many and many to many.
  private static func network(of count: Int) -> [String] {
    (0..<count).map { index in
      let (next, previous) = ((index + 1) % count, (index + count - 1) % count)
      return entity(
        "Station\(index)",
        attribute("name", "String", #"defaultValueString="Station \#(index)""#)
          + attribute("opened", "Date", #"optional="YES" usesScalarValueType="NO""#)
          + relationship("departures", to: "Station\(next)", inverse: "arrival", #"toMany="YES" deletionRule="Deny""#)
          + relationship("arrival", to: "Station\(previous)", inverse: "departures")
          + relationship(
            "lines", to: "Station\(next)", inverse: "crossings",
            #"toMany="YES""# + (index.isMultiple(of: 2) ? #" ordered="YES""# : ""))
          + relationship("crossings", to: "Station\(previous)", inverse: "lines", #"toMany="YES""#))
    }
  }

  private static func sections(of count: Int) -> [String] {
    (0..<count).map { index in
      entity(
        "Section\(index)",
        (0..<12).map { attribute("field\($0)", types.keys.sorted()[$0], #"optional="YES" usesScalarValueType="YES""#) }
          .joined() + attribute("id", "Integer 64", #"usesScalarValueType="YES""#))
    }
  }

  private static let rest = """
    <configuration name="Cloud"><memberEntity name="Parcel"/><memberEntity name="Letter"/></configuration>
    <fetchRequest name="Heavy" entity="Parcel" predicateString="weight &gt; $LIMIT"/>
    """

  // MARK: Elements

  private static func entity(
    _ name: String, _ properties: String, _ more: String = #"codeGenerationType="class""#, more elements: String = ""
  ) -> String {
    #"<entity name="\#(name)" \#(more) syncable="YES">\#n\#(properties)\#(elements)</entity>"#
  }

  private static func attribute(
    _ name: String, _ type: String, _ more: String, userInfo: [String: String] = [:]
  ) -> String {
    let notes = userInfo.map { #"<entry key="\#($0)" value="\#($1)"/>"# }.joined()
    return #"<attribute name="\#(name)" attributeType="\#(type)" \#(more)>"#
      + (notes.isEmpty ? "" : "<userInfo>\(notes)</userInfo>") + "</attribute>\n"
  }

  private static func composite(_ name: String, _ type: String, optional: Bool) -> String {
    #"<composite name="\#(name)" compositeName="\#(type)" optional="\#(optional ? "YES" : "NO")"/>\#n"#
  }

  private static func relationship(
    _ name: String, to destination: String, inverse: String?, _ more: String = #"maxCount="1""#
  ) -> String {
    let back = inverse.map { #"inverseName="\#($0)" inverseEntity="\#(destination)""# } ?? ""
    return #"<relationship name="\#(name)" optional="YES" destinationEntity="\#(destination)" \#(more) \#(back)/>\#n"#
  }
}
