import CoreData

func books() throws -> [NSManagedObject] {
  // <block 0>
  return books
}
