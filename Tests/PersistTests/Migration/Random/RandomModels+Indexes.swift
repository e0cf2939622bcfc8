@testable import Persist
@testable import PersistModel

extension RandomModels {
  mutating func changeIndexes() {
    switch pick(0...5) {
    case 0...1: addIndex()
    case 2: addConstraint()
    case 3: if let index = anyEntity(where: { !$0.indexes.isEmpty }) { entities[index].indexes.removeFirst() }
    case 4:
      if let index = anyEntity(where: { !$0.uniquenessConstraints.isEmpty }) {
        entities[index].uniquenessConstraints.removeFirst()
      }
    default:
      guard let index = anyEntity(where: { !$0.indexes.isEmpty }) else { return }
      entities[index].indexes[0].elements[0].isAscending.toggle()
    }
  }

  private func attributes(of index: Int) -> [AttributeDescription] {
    lineage(of: index).flatMap { entities[$0].attributes }.filter { !$0.isTransient }
  }

  mutating func addIndex() {
    guard let index = anyEntity() else { return }
    let toOne = lineage(of: index).flatMap { entities[$0].relationships }.filter { !$0.isToMany }.map(\.name)
    let names = (attributes(of: index).map(\.name) + toOne).shuffled(using: &numbers).prefix(pick(1...3))
    guard !names.isEmpty else { return }
    var description = FetchIndexDescription(
      name("i"), elements: names.map { .init(.property($0), isAscending: chance(2)) })
    if chance(3), let text = one(of: attributes(of: index).filter({ $0.type == .string }))?.name {
      if chance(2) {
        description.partialPredicate = "\(text) != nil"
      } else {
        description.elements.append(.init(.expression("lowercase:(\(text))", .string)))
      }
    }
    entities[index].indexes.append(description)
  }

  private mutating func addConstraint() {
    guard let index = anyEntity() else { return }
    let names = attributes(of: index).filter { ![.boolean, .composite].contains($0.type) && !$0.isDerived }.map(\.name)
      .shuffled(using: &numbers).prefix(pick(1...2))
    guard !names.isEmpty else { return }
    entities[index].uniquenessConstraints.append(Array(names))
  }
}
