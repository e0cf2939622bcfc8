import Persist

/// An author with books, as the generator writes classes.
final class SampleAuthor: ManagedObject {
  var name: String? {
    get { string(at: 0) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 0) }
  }
  var books: RelationshipSet<SampleBook> { toMany(at: 1, of: SampleBook.self) }
}

final class SampleBook: ManagedObject {
  var pages: Int32 {
    get { integer(at: 0).flatMap { Int32(exactly: $0) } ?? 0 }
    set { setAttributeValue(.integer(Int64(newValue)), at: 0) }
  }
  var title: String? {
    get { string(at: 1) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 1) }
  }
  var author: SampleAuthor? {
    get { toOne(at: 2, as: SampleAuthor.self) }
    set { setToOne(newValue, at: 2) }
  }
}
