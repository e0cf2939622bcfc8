/// A model with reserved words, names of other types and constructs that only Objective-C has.
enum OddModel {
  static let contents = #"""
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
      <entity name="Vehicle" representedClassName="Vehicle" isAbstract="YES" codeGenerationType="class">
        <attribute name="date" optional="YES" attributeType="Date" usesScalarValueType="NO"/>
        <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Date" inverseName="vehicles"/>
      </entity>
      <entity name="Car" representedClassName="CarMO" parentEntity="Vehicle" codeGenerationType="class">
        <attribute name="class" optional="YES" attributeType="UUID" usesScalarValueType="NO"/>
        <attribute name="objectID" optional="YES" attributeType="String"/>
        <attribute name="colour" optional="YES" attributeType="Transformable" valueTransformerName="ColourTransformer" customClassName="UIColor"/>
        <attribute name="raw" optional="YES" transient="YES" attributeType="Undefined"/>
        <attribute name="text" attributeType="String" defaultValueString="a &quot;b&quot; \ c"/>
      </entity>
      <entity name="Date" representedClassName="Date" codeGenerationType="class">
        <attribute name="id" optional="YES" attributeType="UUID"/>
        <relationship name="vehicles" optional="YES" toMany="YES" ordered="YES" destinationEntity="Vehicle" inverseName="tags"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Owner" inverseName="dates"/>
      </entity>
      <entity name="Owner" representedClassName="Owner" codeGenerationType="category">
        <relationship name="dates" optional="YES" toMany="YES" destinationEntity="Date" inverseName="owner"/>
      </entity>
      <entity name="Hand" representedClassName="Hand">
        <attribute name="name" optional="YES" attributeType="String"/>
      </entity>
    </model>
    """#

  /// The contents of a model file with these elements.
  static func model(_ elements: String...) -> String {
    """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
    \(elements.joined(separator: "\n"))
    </model>
    """
  }
}
