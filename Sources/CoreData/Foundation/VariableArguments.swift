public import Foundation
public import Persist

// Values that `as CVarArg` turns into Foundation's objects on Apple's platforms. Lists of arguments for C's functions
// hold the objects, as they hold those of texts.
extension CVarArg where Self: _CVarArgObject {
  /// The address of an object that the list of arguments holds.
  public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { NSDate(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate) }
}

extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { self as NSUUID }
}

extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { self as NSData }
}

extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { NSDecimalNumber(decimal: self) }
}

extension URL: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { self as NSURL }
}

extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { NSArray(array: self) }
}

extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { NSSet(array: Array(self)) }
}

extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject {
  /// The value as Foundation's object.
  public var _cVarArgObject: any CVarArg { self as NSDictionary }
}

// The objects themselves.
extension ManagedObject: CVarArg {
  /// The object's address.
  public final var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

extension ManagedObjectID: CVarArg {
  /// The object's address.
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
