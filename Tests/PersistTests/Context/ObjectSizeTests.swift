#if canImport(Glibc)
  import Glibc
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Memory of objects")
  struct ObjectSizeTests {
    @Test("A fetched object takes at most 72 bytes, and 80 with those of the allocator")
    func size() throws {
      let model = ModelDescription(entities: [EntityDescription("Item", attributes: [.init("name", .string)])])
      try withStack(model) { stack in
        let context = stack.context()
        for number in 1...100 { try context.make("Item", ["name": "Tea \(number)"]) }
        try context.save()
        let items = try stack.context().fetch(FetchRequest("Item"))
        // glibc's function isn't in Swift's module of it.
        typealias UsableSize = @convention(c) (UnsafeMutableRawPointer) -> Int
        let symbol = try #require(dlsym(nil, "malloc_usable_size"))
        let usableSize = unsafeBitCast(symbol, to: UsableSize.self)
        // The allocator gives a free block that is 16 bytes larger as a whole.
        let sizes = items.map { usableSize(Unmanaged.passUnretained($0).toOpaque()) }
        #expect(sizes.count == 100)
        #expect(sizes.min() == 72)
      }
    }
  }
#endif
