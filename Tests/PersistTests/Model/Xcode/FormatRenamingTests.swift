import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Renaming in predicates and expressions")
struct FormatRenamingTests {
  private static let names = [
    "Person": ["name": "title", "pets": "animals", "n": "m"], "Pet": ["name": "callName", "owner": "keeper"],
  ]
  private static let destinations = ["Person.pets": "Pet", "Pet.owner": "Person", "Person.friends": "Person"]

  private func renamed(_ text: String) -> String {
    FormatRenaming.renamed(text, of: "Person", variables: ["FETCH_SOURCE": "Pet"]) { name, entity in
      FormatRenaming.Reference(
        name: Self.names[entity]?[name] ?? name, destination: Self.destinations["\(entity).\(name)"])
    }
  }

  @Test("Names change along paths, and in nothing else", arguments: [
    ("name == 'name' AND age > 5", "title == 'name' AND age > 5"),
    (#"SELF.name LIKE "it's name \" name""#, #"SELF.title LIKE "it's name \" name""#),
    ("ANY pets.name IN {'a', name}", "ANY animals.callName IN {'a', title}"),
    ("pets.owner.name.length", "animals.keeper.title.length"),
    ("friends.pets.@count > 0 OR pets.@max.name == %@", "friends.animals.@count > 0 OR animals.@max.callName == %@"),
    ("uppercase:(name)", "uppercase:(title)"), ("name:(name)", "name:(title)"), ("now()", "now()"),
    ("name ==[n] %K AND n CONTAINS[n]'n'", "title ==[n] %K AND m CONTAINS[n]'n'"),
    ("pets[0].name == pets[n].name", "animals[0].callName == animals[m].callName"),
    ("SUBQUERY(pets, $p, $p.name == name).@count", "SUBQUERY(animals, $p, $p.callName == title).@count"),
    ("SUBQUERY (pets , $p, $p.owner.name != nil).name", "SUBQUERY (animals , $p, $p.keeper.title != nil).callName"),
    ("$FETCH_SOURCE.name == name AND $other.name == 1e5", "$FETCH_SOURCE.callName == title AND $other.name == 1e5"),
    ("name == 'open", "title == 'open"), ("NOT (name == nil)", "NOT (title == nil)"), ("", ""),
    ("pets[", "animals["), ("name ==[c", "title ==[c"), (")]name", ")]title"), ("$", "$"),
  ])
  func paths(_ text: String, _ expected: String) {
    #expect(renamed(text) == expected)
  }
}
