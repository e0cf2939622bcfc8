import Foundation

/// Finds classes by their names, as the Objective-C runtime does on Apple's platforms.
///
/// The Swift runtime lists the type descriptors of every loaded image. The list is read once for each set of images;
/// a class is created only when its name is asked for.
enum RuntimeTypes {
  /// Returns the subclass with a name, which may contain the name of its module. Other modules may have classes of the
  /// same name, subclasses among them.
  ///
  /// - Parameters:
  ///   - name: `Item`, `Shop.Item` or `.Item`, or a name from the class's `@objc` attribute.
  ///   - base: The class that it inherits from.
  ///   - bundle: The name of the bundle from which the name was read, such as `Package_Target`: the target's own class
  ///     comes first.
  static func type<Base: AnyObject>(
    named name: String, inheritingFrom base: Base.Type, readFrom bundle: String? = nil
  ) -> Base.Type? {
    let parts = name.split(separator: ".").map(String.init)
    guard let last = parts.last else { return nil }
    let module = parts.count > 1 ? parts[0] : nil
    let all = descriptors(named: last)
    let own = all.filter { descriptor in
      bundle.map { $0 == descriptor.module || $0.hasSuffix("_\(descriptor.module ?? "")") } ?? false
    }
    let found = own + all
    let wanted = found.filter { module == nil || $0.module == module }
    // A module's name in a model file is that of the application on Apple's platforms, whose code may have moved.
    for descriptor in wanted + found {
      if let type = descriptor.type as? Base.Type { return type }
    }
    return nil
  }

  private struct Index {
    var imageCount = 0
    var descriptors: [String: [TypeDescriptor]] = [:]
  }

  private static let index = Locked(Index())

  private static func descriptors(named name: String) -> [TypeDescriptor] {
    index.withLock { index in
      let sections = MetadataSections.all()
      if sections.count != index.imageCount {
        index = Index(imageCount: sections.count)
        for section in sections {
          for descriptor in section.descriptors {
            index.descriptors[descriptor.name, default: []].append(descriptor)
          }
        }
      }
      return index.descriptors[name] ?? []
    }
  }
}

/// The prefix of the type that the source pass declares inside of a class with another name in Objective-C.
private let objectiveCNamePrefix = "ObjectiveCName_"

/// A class's context descriptor in the metadata of an image.
///
/// - SeeAlso: <https://github.com/swiftlang/swift/blob/main/include/swift/ABI/Metadata.h>
// Unchecked: descriptors are constants of loaded images.
private struct TypeDescriptor: @unchecked Sendable {
  private let address: UnsafeRawPointer
  let name: String
  let module: String?

  /// Reads a descriptor; nil for other kinds than classes that aren't generic.
  init?(_ address: UnsafeRawPointer) {
    let flags = address.load(as: UInt32.self)
    // A marker for the name in Objective-C is an enumeration inside of its class.
    if flags & 0x1F == 18, let name = Self.name(at: address), name.hasPrefix(objectiveCNamePrefix),
      let owner = Self.parent(of: address), let descriptor = TypeDescriptor(owner)
    {
      self = TypeDescriptor(renaming: descriptor, to: String(name.dropFirst(objectiveCNamePrefix.count)))
      return
    }
    guard flags & 0x1F == 16, flags & 0x80 == 0, let name = Self.name(at: address) else { return nil }
    self.address = address
    self.name = name
    module = Self.module(of: address)
  }

  private init(renaming other: TypeDescriptor, to name: String) {
    (address, self.name, module) = (other.address, name, other.module)
  }

  var type: AnyClass? {
    typealias Accessor = @convention(c) (UInt) -> UnsafeRawPointer
    guard let function = Self.pointer(at: address + 12) else { return nil }
    let metadata = unsafeBitCast(function, to: Accessor.self)(0)
    return unsafeBitCast(metadata, to: Any.Type.self) as? AnyClass
  }

  private static func module(of descriptor: UnsafeRawPointer) -> String? {
    var context = parent(of: descriptor)
    while let current = context {
      if current.load(as: UInt32.self) & 0x1F == 0 { return name(at: current) }
      context = parent(of: current)
    }
    return nil
  }

  private static func name(at descriptor: UnsafeRawPointer) -> String? {
    pointer(at: descriptor + 8).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
  }

  private static func parent(of descriptor: UnsafeRawPointer) -> UnsafeRawPointer? {
    indirectPointer(at: descriptor + 4)
  }

  /// Follows an offset relative to its own address.
  private static func pointer(at address: UnsafeRawPointer) -> UnsafeRawPointer? {
    let offset = address.load(as: Int32.self)
    return offset == 0 ? nil : address + Int(offset)
  }

  /// Follows an offset whose lowest bit tells that the target is an address.
  fileprivate static func indirectPointer(at address: UnsafeRawPointer, mask: Int32 = 1) -> UnsafeRawPointer? {
    let offset = address.load(as: Int32.self)
    guard offset & ~mask != 0 else { return nil }
    let target = address + Int(offset & ~mask)
    return offset & 1 == 0 ? target : target.load(as: UnsafeRawPointer?.self)
  }
}

/// The metadata of one image, as its start-up code registers it with the Swift runtime.
private struct MetadataSections {
  private let address: UnsafeRawPointer

  /// The types of the image. The third range of the structure, after its version, base address and two unused words.
  var descriptors: [TypeDescriptor] {
    let word = MemoryLayout<UInt>.size
    let range = address + word * (4 + 2 * 2)
    guard let start = range.load(as: UnsafeRawPointer?.self) else { return [] }
    let count = (range + word).load(as: Int.self) / MemoryLayout<Int32>.size
    return (0..<count).compactMap { index in
      TypeDescriptor.indirectPointer(at: start + index * MemoryLayout<Int32>.size, mask: 3).flatMap(TypeDescriptor.init)
    }
  }

  static func all() -> [MetadataSections] {
    var found: [MetadataSections] = []
    withUnsafeMutablePointer(to: &found) { list in
      enumerateMetadataSections(
        { section, list in
          list?.assumingMemoryBound(to: [MetadataSections].self).pointee.append(MetadataSections(address: section))
          return true
        }, list)
    }
    return found
  }
}

/// The runtime's own enumeration of loaded images, which Swift's test runner discovers tests with.
@_silgen_name("swift_enumerateAllMetadataSections")
private func enumerateMetadataSections(
  _ body: @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer?) -> Bool, _ context: UnsafeMutableRawPointer?)
