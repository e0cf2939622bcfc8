/// A context's last merge, which holds the objects that it affected so that the program can access them.
protocol LastMerge: AnyObject {
  /// The objects whose rows others had deleted.
  var deleted: Set<ManagedObject> { get }
}
