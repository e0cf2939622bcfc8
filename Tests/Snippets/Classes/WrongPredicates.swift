import Persist
import PersistMacrosless

final class Book: ManagedObject {
  @Attribute var title = ""
}

func books(_ context: ManagedObjectContext) throws {
  _ = try context.fetch(Book.where { $0.title.hasPrefix("A") })  // expect-error: 'hasPrefix' has been renamed to 'beginsWith(_:)'
  _ = try context.fetch(Book.where { $0.title.hasSuffix("A") })  // expect-error: 'hasSuffix' has been renamed to 'endsWith(_:)'
  _ = try context.fetch(Book.where { ["a", "b"].contains($0.title) })  // expect-error: '$0.name.in(list)'
}
