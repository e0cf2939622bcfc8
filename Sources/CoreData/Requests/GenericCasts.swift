import Foundation

// The results' type of a request or controller exists only for the compiler on Apple's platforms, where casts between
// them succeed. The source pass puts these operators in the place of such casts.

/// Returns the request or the controller for another type of results; in the place of `as!`.
infix operator <~! : CastingPrecedence

/// Returns the request or the controller for another type of results, or nil; in the place of `as?`.
infix operator <~? : CastingPrecedence

/// Returns the request for another type of results: a copy, if it is a request for different ones.
///
/// Stops the program if the value isn't a request.
public func <~! <Result>(value: Any?, type: NSFetchRequest<Result>.Type) -> NSFetchRequest<Result> {
  guard let request = value <~? type else { stop("\(value ?? "nil") isn't an NSFetchRequest.") }
  return request
}

/// Returns the request for another type of results: a copy, if it is a request for different ones.
///
/// - Returns: Nil for other values.
public func <~? <Result>(value: Any?, type: NSFetchRequest<Result>.Type) -> NSFetchRequest<Result>? {
  value as? NSFetchRequest<Result> ?? (value as? any FetchingRequest)?.returning(Result.self)
}

/// Returns the controller for another type of results, which shares its contents.
///
/// Stops the program if the value isn't a controller.
public func <~! <Result>(
  value: Any?, type: NSFetchedResultsController<Result>.Type
) -> NSFetchedResultsController<Result> {
  guard let controller = value <~? type else { stop("\(value ?? "nil") isn't an NSFetchedResultsController.") }
  return controller
}

/// Returns the controller for another type of results, which shares its contents; nil for other values.
public func <~? <Result>(
  value: Any?, type: NSFetchedResultsController<Result>.Type
) -> NSFetchedResultsController<Result>? {
  value as? NSFetchedResultsController<Result> ?? (value as? any SharedResults)?.returning(Result.self)
}
