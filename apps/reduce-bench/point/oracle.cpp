#include "point/oracle.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace reduce_bench {
namespace {

template <class T>
T value_of(const Scalar& scalar) {
  T value;
  std::memcpy(&value, &scalar.bits, sizeof(T));
  return value;
}

template <class T>
Scalar scalar_of(T value) {
  return Scalar::load(kTypeOf<T>, &value);
}

/// A sum kept as an unevaluated pair, |low| <= ulp(high) / 2 (Dekker 1971, Knuth's TwoSum).
struct DoubleDouble {
  double high = 0, low = 0;

  void add(double x) {
    const double sum = high + x;
    const double virtual_x = sum - high;
    low += (high - (sum - virtual_x)) + (x - virtual_x);
    high = sum;
  }
  void add(const DoubleDouble& other) {
    add(other.high);
    add(other.low);
  }
  template <class T>
  T rounded() const {
    // For double one addition rounds; for float the pair is first rounded to odd so that rounding
    // twice gives the nearest float.
    const double sum = high + low;
    if constexpr (std::is_same_v<T, double>) {
      return sum;
    } else {
      const double rest = low - (sum - high);
      double sticky = sum;
      if (rest != 0 && std::isfinite(sum) && (std::bit_cast<std::uint64_t>(sum) & 1) == 0) {
        sticky = std::nextafter(sum, rest > 0 ? std::numeric_limits<double>::infinity()
                                              : -std::numeric_limits<double>::infinity());
      }
      return static_cast<T>(sticky);
    }
  }
};

/// The exponent of the lowest set bit of x: x is a multiple of 2^that.
int quantum_exponent(double x) {
  if (x == 0 || !std::isfinite(x)) return std::numeric_limits<int>::max();
  // By its bits: calls of libm for each element took longer than the sum.
  constexpr int kDigits = std::numeric_limits<double>::digits - 1;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t digits = bits & ((std::uint64_t{1} << kDigits) - 1);
  const int exponent = static_cast<int>(bits >> kDigits & 0x7ff);
  const std::uint64_t leading = exponent == 0 ? 0 : std::uint64_t{1} << kDigits;
  return std::max(exponent, 1) - 1023 - kDigits + std::countr_zero(digits | leading);
}

constexpr std::size_t kChunk = std::size_t{1} << 16;

/// Splits [0, n) into chunks, computes `chunk(first, last)` on all cores and returns the results in
/// order.
template <class Result, class F>
std::vector<Result> in_chunks(std::size_t n, F&& chunk) {
  std::vector<Result> results((n + kChunk - 1) / kChunk);
#pragma omp parallel for schedule(static) if (results.size() > 1)
  for (std::size_t c = 0; c < results.size(); ++c)
    results[c] = chunk(c * kChunk, std::min(n, (c + 1) * kChunk));
  return results;
}

// An accumulator takes elements one by one with `add`, and gives the `Reference` of what it took.
// Accumulators with `merge` can reduce the parts of an input in parallel.

template <class T>
class FloatSum {
 public:
  void add(T x) {
    const double value = static_cast<double>(x);
    sum_.add(value);
    magnitude_.add(std::fabs(value));
    quantum_ = std::min(quantum_, quantum_exponent(value));
  }
  void merge(const FloatSum& part) {
    sum_.add(part.sum_);
    magnitude_.add(part.magnitude_);
    quantum_ = std::min(quantum_, part.quantum_);
  }
  Reference result() const {
    const double magnitude = magnitude_.template rounded<double>();
    Reference result{.expected = scalar_of(sum_.template rounded<T>()), .magnitude = magnitude};
    // Every partial sum is a multiple of the quantum and at most the sum of magnitudes.
    result.exact =
        magnitude == 0 || magnitude <= std::ldexp(1.0, std::numeric_limits<T>::digits + quantum_);
    // A GPU's f32 atomics on global memory flush subnormal operands and sums to zero (PTX ISA,
    // red.add.f32): every addition may lose three times the smallest normal number, as if it had
    // rounded values this much larger.
    if (std::is_same_v<T, float> && quantum_ < -126) {
      result.exact = false;
      result.magnitude += 3 * 0x1p-126 / 0x1p-24;
    }
    return result;
  }

 private:
  DoubleDouble sum_, magnitude_;
  int quantum_ = std::numeric_limits<int>::max();
};

/// A sum without any rounding: the digits of all elements with one exponent add up in an integer.
template <class T>
class ExactSum {
 public:
  void add(T x) {
    any_ = true;
    if (!std::isfinite(x)) {
      if (std::isnan(x)) nan_ = true;
      else (x > 0 ? above_ : below_) = true;
      return;
    }
    all_minus_zero_ = all_minus_zero_ && x == 0 && std::signbit(x);
    if (x == 0) return;
    const int exponent = std::max(std::ilogb(x), kLeast + kDigits - 1) - (kDigits - 1);
    at_[static_cast<std::size_t>(exponent - kLeast)] +=
        static_cast<std::int64_t>(std::scalbn(x, -exponent));
  }
  void merge(const ExactSum& part) {
    any_ = any_ || part.any_;
    nan_ = nan_ || part.nan_;
    above_ = above_ || part.above_;
    below_ = below_ || part.below_;
    all_minus_zero_ = all_minus_zero_ && part.all_minus_zero_;
    for (std::size_t i = 0; i < at_.size(); ++i) at_[i] += part.at_[i];
  }
  T rounded() const {
    if (nan_ || (above_ && below_)) return Limits::quiet_NaN();
    if (above_ || below_) return above_ ? Limits::infinity() : -Limits::infinity();
    std::vector<bool> bits;
    if (!binary(1, bits)) return -magnitude_of(bits_of_opposite());
    if (std::find(bits.begin(), bits.end(), true) == bits.end())
      return any_ && all_minus_zero_ ? -T{0} : T{0};
    return magnitude_of(bits);
  }

 private:
  using Limits = std::numeric_limits<T>;
  static constexpr int kDigits = Limits::digits;
  static constexpr int kLeast = Limits::min_exponent - kDigits;  ///< 2^that is the least value
  static constexpr std::size_t kExponents = Limits::max_exponent - Limits::min_exponent + 1;
  __extension__ using Wide = __int128;

  /// The sum, or its opposite with `sign` -1, as bits from 2^kLeast up; false if it is negative.
  bool binary(int sign, std::vector<bool>& bits) const {
    Wide carry = 0;
    for (std::size_t i = 0; i < at_.size() || (carry != 0 && carry != -1); ++i) {
      if (i < at_.size()) carry += sign * at_[i];
      bits.push_back((carry & 1) != 0);
      carry >>= 1;
    }
    return carry == 0;
  }
  std::vector<bool> bits_of_opposite() const {
    std::vector<bool> bits;
    binary(-1, bits);
    return bits;
  }
  /// Rounds a number of which a bit is set.
  static T magnitude_of(const std::vector<bool>& bits) {
    int top = static_cast<int>(bits.size()) - 1;
    while (!bits[static_cast<std::size_t>(top)]) --top;
    const int last = std::max(top - (kDigits - 1), 0);  // the last bit that there is room for
    const auto bit = [&](int i) { return i >= 0 && bits[static_cast<std::size_t>(i)]; };
    std::uint64_t kept = 0;
    for (int i = top; i >= last; --i) kept = 2 * kept + (bit(i) ? 1 : 0);
    bool more = false;  // below the half
    for (int i = 0; i < last - 1; ++i) more = more || bit(i);
    if (bit(last - 1) && (more || kept % 2 == 1)) ++kept;
    return std::scalbn(static_cast<T>(kept), last + kLeast);
  }

  std::vector<Wide> at_ = std::vector<Wide>(kExponents);  ///< of 2^(kLeast + i)
  bool any_ = false, nan_ = false, above_ = false, below_ = false, all_minus_zero_ = true;
};

template <class T>
class FloatProduct {
 public:
  void add(T x) {
    const double value = static_cast<double>(x);
    product_ *= value;
    zero_ = zero_ || value == 0;
    if (value != 0) magnitude_ *= std::fabs(value);
    integers_ = integers_ && std::trunc(value) == value;
  }
  Reference result() const {
    return {.expected = scalar_of(static_cast<T>(product_)),
            .magnitude = std::fabs(product_),
            .exact = zero_ ||
                     (integers_ && magnitude_ <= std::ldexp(1.0, std::numeric_limits<T>::digits))};
  }

 private:
  double product_ = 1, magnitude_ = 1;
  bool integers_ = true, zero_ = false;
};

/// Exact, commutative operators. `F` combines two elements, unsigned ones where it may wrap.
template <class T, class F>
class Fold {
 public:
  void add(T x) { total_ = F::combine(total_, x); }
  void merge(const Fold& part) { add(part.total_); }
  Reference result() const { return {.expected = scalar_of(total_)}; }

 private:
  T total_ = F::template neutral<T>();
};

struct Least {
  template <class T>
  static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class T>
  static T combine(T a, T b) {
    return std::min(a, b);
  }
};
struct Greatest {
  template <class T>
  static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class T>
  static T combine(T a, T b) {
    return std::max(a, b);
  }
};
/// `kNeutral` and the operator on unsigned numbers, which wrap.
template <int kNeutral, class F>
struct Wrapping {
  template <class T>
  static T neutral() {
    return T{kNeutral};
  }
  template <class T>
  static T combine(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(F{}(static_cast<U>(a), static_cast<U>(b)));
  }
};

class LastNotNeutral {
 public:
  void add(std::int32_t x) {
    if (x != kNeutral) last_ = x;
  }
  Reference result() const { return {.expected = scalar_of(last_)}; }

 private:
  static constexpr std::int32_t kNeutral = std::numeric_limits<std::int32_t>::min();
  std::int32_t last_ = kNeutral;
};

/// Represents the composed map by its values at 0 and 1 instead of by its coefficients.
class AffineComposition {
 public:
  void add(std::int64_t x) {
    const auto bits = static_cast<std::uint64_t>(x);
    const auto slope = static_cast<std::uint32_t>(bits >> 32);
    const auto offset = static_cast<std::uint32_t>(bits);
    image_of_zero_ = slope * image_of_zero_ + offset;
    image_of_one_ = slope * image_of_one_ + offset;
  }
  Reference result() const {
    const std::uint64_t slope = image_of_one_ - image_of_zero_;
    return {.expected =
                scalar_of(static_cast<std::int64_t>((slope & 0xffffffffu) << 32 | image_of_zero_))};
  }

 private:
  std::uint32_t image_of_zero_ = 0, image_of_one_ = 1;
};

/// Calls `f.template operator()<Accumulator>()` for the operator on elements of type T. Throws
/// std::logic_error for an operator that T lacks.
template <class T, class F>
decltype(auto) with_accumulator(Op op, F&& f) {
  static_assert(std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t> ||
                std::is_same_v<T, float> || std::is_same_v<T, double>);
  constexpr bool kFloat = std::is_floating_point_v<T>;
  // Without a default the compiler names an operator that is forgotten here.
  switch (op) {
    case Op::kSum:
      if constexpr (kFloat) return f.template operator()<FloatSum<T>>();
      else return f.template operator()<Fold<T, Wrapping<0, std::plus<>>>>();
    case Op::kMin: return f.template operator()<Fold<T, Least>>();
    case Op::kMax: return f.template operator()<Fold<T, Greatest>>();
    case Op::kProd:
      if constexpr (kFloat) return f.template operator()<FloatProduct<T>>();
      else return f.template operator()<Fold<T, Wrapping<1, std::multiplies<>>>>();
    // NOLINTNEXTLINE(bugprone-branch-clone): these three are alike where T has no bits to combine
    case Op::kAnd:
      if constexpr (kFloat) break;
      else return f.template operator()<Fold<T, Wrapping<-1, std::bit_and<>>>>();
    case Op::kOr:
      if constexpr (kFloat) break;
      else return f.template operator()<Fold<T, Wrapping<0, std::bit_or<>>>>();
    case Op::kXor:
      if constexpr (kFloat) break;
      else return f.template operator()<Fold<T, Wrapping<0, std::bit_xor<>>>>();
    case Op::kRight:
      if constexpr (std::is_same_v<T, std::int32_t>) return f.template operator()<LastNotNeutral>();
      else break;
    case Op::kAffine:
      if constexpr (std::is_same_v<T, std::int64_t>)
        return f.template operator()<AffineComposition>();
      else break;
    case Op::kNone: break;
  }
  throw std::logic_error("no expected result is defined for this operator");
}

/// A value in the type in which it is combined.
template <class T>
Combined<T> combined(T value) {
  if constexpr (kIsHalf<T>) return to_float(value);
  else return value;
}

template <class Accumulator>
constexpr bool kMerges = requires(Accumulator& a) { a.merge(a); };

template <class T>
Reference reference_of(Op op, const T* x, std::size_t n) {
  return with_accumulator<Combined<T>>(op, [&]<class Accumulator>() {
    const auto take = [&](std::size_t first, std::size_t last) {
      Accumulator taken;
      for (std::size_t i = first; i < last; ++i) taken.add(combined(x[i]));
      return taken;
    };
    if constexpr (kMerges<Accumulator>) {
      Accumulator total;
      for (const Accumulator& part : in_chunks<Accumulator>(n, take)) total.merge(part);
      return total.result();
    } else {
      return take(0, n).result();
    }
  });
}

template <class T>
Scalar correctly_rounded_sum_of(const T* x, std::size_t n) {
  ExactSum<Combined<T>> total;
#pragma omp parallel if (n > kChunk)
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    ExactSum<Combined<T>> part;
    for (std::size_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i)
      part.add(combined(x[i]));
#pragma omp critical
    total.merge(part);
  }
  return scalar_of(total.rounded());
}

// ---- whole arrays -----------------------------------------------------------------------------

ExpectedArray make_expected(Extent extent) {
  ExpectedArray array{.extent = extent};
  array.elements = std::make_unique_for_overwrite<std::byte[]>(extent.bytes());
  return array;
}
template <class T>
T* elements_of(const ExpectedArray& array) {
  return reinterpret_cast<T*>(array.elements.get());
}

/// Calls `body(first, last)` on every thread with its share of [0, n).
template <class F>
void share_out(std::size_t n, std::size_t work, F&& body) {
#pragma omp parallel if (work > kChunk)
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    body(n * thread / threads, n * (thread + 1) / threads);
  }
}

/// What a thread holds for itself lies in a core's cache.
constexpr std::size_t kOwnBytes = std::size_t{1} << 20;

/// Inputs whose order by thread is held at once. Of sorted labels a window has few, so that few
/// threads have work.
constexpr std::size_t kWindow = std::size_t{1} << 25;

/// Whether the inputs are taken in parts, one for each thread, of which each has a `B` for every
/// bucket: where these lie in its cache, and take no more memory than the order by thread would.
template <class B>
bool in_parts(std::size_t n, std::size_t buckets) {
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t order_bytes = std::min(n, kWindow) * sizeof(std::uint32_t);
  return n > kChunk && buckets * sizeof(B) <= std::min(kOwnBytes, order_bytes / threads);
}

/// Calls `body(part, first, last)` for each of `parts` neighbouring parts of [0, n).
template <class F>
void for_each_part(std::size_t parts, std::size_t n, F&& body) {
#pragma omp parallel for schedule(static, 1) if (parts > 1)
  for (std::size_t part = 0; part < parts; ++part)
    body(part, n * part / parts, n * (part + 1) / parts);
}

/// What the buckets have of each part of the inputs: `take(bucket, i)` gives it input i.
template <class B, class L, class F>
std::vector<std::vector<B>> buckets_of_parts(const L* labels, std::size_t n, std::size_t buckets,
                                             F&& take) {
  std::vector<std::vector<B>> parts(static_cast<std::size_t>(omp_get_max_threads()));
  for_each_part(parts.size(), n, [&](std::size_t part, std::size_t first, std::size_t last) {
    std::vector<B> held(buckets);
    for (std::size_t i = first; i < last; ++i) take(held[labels[i]], i);
    parts[part] = std::move(held);
  });
  return parts;
}

/// Calls `take(i)` for each i of [0, n). Inputs of one label are taken by one thread, in their order:
/// every thread has a share of the buckets, and no results have to be merged. Each thread first
/// orders a part of the window by the thread that is to take them, so that nobody reads all labels.
template <class L, class F>
void for_each_by_label(const L* labels, std::size_t n, std::size_t buckets, F&& take) {
  if (n <= kChunk) {
    for (std::size_t i = 0; i < n; ++i) take(i);
    return;
  }
  const auto most = static_cast<std::size_t>(omp_get_max_threads());
  const auto order = std::make_unique_for_overwrite<std::uint32_t[]>(std::min(n, kWindow));
  std::vector<std::size_t> ends(most * most);  // [part of the window][taker]
#pragma omp parallel
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const double takers_per_bucket = static_cast<double>(threads) / static_cast<double>(buckets);
    std::vector<std::size_t> at(threads);  // of this thread alone: no line is another's, too
    for (std::size_t window = 0; window < n; window += kWindow) {
      const std::size_t size = std::min(kWindow, n - window);
      const auto part_begins = [&](std::size_t part) { return size * part / threads; };
      const auto taker_of = [&](std::size_t place) {
        const auto taker = static_cast<std::size_t>(labels[window + place] * takers_per_bucket);
        return std::min(taker, threads - 1);
      };
      std::fill(at.begin(), at.end(), 0);
      for (std::size_t i = part_begins(thread); i < part_begins(thread + 1); ++i) ++at[taker_of(i)];
      std::size_t begin = part_begins(thread);
      for (std::size_t taker = 0; taker < threads; ++taker)
        begin += std::exchange(at[taker], begin);
      for (std::size_t i = part_begins(thread); i < part_begins(thread + 1); ++i)
        order[at[taker_of(i)]++] = static_cast<std::uint32_t>(i);
      std::copy(at.begin(), at.end(), &ends[thread * most]);
#pragma omp barrier
      for (std::size_t part = 0; part < threads; ++part) {
        const std::size_t* const of_part = &ends[part * most];
        for (std::size_t k = thread == 0 ? part_begins(part) : of_part[thread - 1];
             k < of_part[thread]; ++k)
          take(window + order[k]);
      }
#pragma omp barrier
    }
  }
}

/// Results of an operator, with room for magnitudes and numbers of terms where they are rounded.
template <class T>
ExpectedArray make_results(Op op, std::size_t count) {
  ExpectedArray array = make_expected({kTypeOf<T>, count});
  if (is_float(kTypeOf<T>) && op != Op::kMin && op != Op::kMax) {
    array.magnitudes.resize(count);
    array.terms.resize(count);
  }
  return array;
}

/// An accumulator and the number of elements that it took.
template <class Accumulator>
struct Bucket {
  Accumulator accumulator;
  Count terms = 0;

  template <class T>
  void add(T x) {
    accumulator.add(x);
    ++terms;
  }
  void merge(const Bucket& part) {
    accumulator.merge(part.accumulator);
    terms += part.terms;
  }
  /// Stores the reduction of what it took as element i of the results.
  void put(ExpectedArray& array, std::size_t i) const {
    const Reference result = accumulator.result();
    const std::size_t element_bytes = size_bytes(array.extent.type);
    std::memcpy(array.elements.get() + i * element_bytes, &result.expected.bits, element_bytes);
    if (array.magnitudes.empty()) return;
    array.magnitudes[i] = result.exact ? 0 : result.magnitude;
    array.terms[i] = terms;
  }
  /// Takes x, and stores the reduction before (exclusive) or after (inclusive) x as element i.
  template <class T>
  void scan(ExpectedArray& array, std::size_t i, T x, bool inclusive) {
    if (!inclusive) put(array, i);
    add(x);
    if (inclusive) put(array, i);
  }
};

template <class T>
ExpectedArray fold_by_label(Op op, const T* values, const Label* labels, std::size_t n,
                            std::size_t buckets) {
  ExpectedArray array = make_results<T>(op, buckets);
  with_accumulator<T>(op, [&]<class Accumulator>() {
    using Held = Bucket<Accumulator>;
    if constexpr (kMerges<Accumulator>) {
      if (in_parts<Held>(n, buckets)) {
        const auto parts = buckets_of_parts<Held>(
            labels, n, buckets, [&](Held& held, std::size_t i) { held.add(values[i]); });
        share_out(buckets, n, [&](std::size_t first, std::size_t last) {
          for (std::size_t bucket = first; bucket < last; ++bucket) {
            Held whole;
            for (const auto& part : parts) whole.merge(part[bucket]);
            whole.put(array, bucket);
          }
        });
        return;
      }
    }
    std::vector<Held> held(buckets);
    for_each_by_label(labels, n, buckets, [&](std::size_t i) { held[labels[i]].add(values[i]); });
    share_out(buckets, buckets, [&](std::size_t first, std::size_t last) {
      for (std::size_t bucket = first; bucket < last; ++bucket) held[bucket].put(array, bucket);
    });
  });
  return array;
}

template <class T>
ExpectedArray scan_by_label(Op op, bool inclusive, const T* values, const Label* labels,
                            std::size_t n, std::size_t buckets) {
  ExpectedArray array = make_results<T>(op, n);
  with_accumulator<T>(op, [&]<class Accumulator>() {
    using Held = Bucket<Accumulator>;
    if constexpr (kMerges<Accumulator>) {
      if (in_parts<Held>(n, buckets)) {
        auto parts = buckets_of_parts<Held>(
            labels, n, buckets, [&](Held& held, std::size_t i) { held.add(values[i]); });
        // Each part begins with what the parts before it have.
        share_out(buckets, n, [&](std::size_t first, std::size_t last) {
          for (std::size_t bucket = first; bucket < last; ++bucket) {
            Held before;
            for (auto& part : parts) before.merge(std::exchange(part[bucket], before));
          }
        });
        for_each_part(parts.size(), n, [&](std::size_t part, std::size_t first, std::size_t last) {
          std::vector<Held>& held = parts[part];
          for (std::size_t i = first; i < last; ++i)
            held[labels[i]].scan(array, i, values[i], inclusive);
        });
        return;
      }
    }
    std::vector<Held> held(buckets);
    for_each_by_label(labels, n, buckets,
                      [&](std::size_t i) { held[labels[i]].scan(array, i, values[i], inclusive); });
  });
  return array;
}

bool begins_run(const Label* labels, std::size_t i) { return i == 0 || labels[i] != labels[i - 1]; }

template <class T>
ExpectedArray scan_runs(Op op, bool inclusive, const T* values, const Label* labels,
                        std::size_t n) {
  ExpectedArray array = make_results<T>(op, n);
  with_accumulator<T>(op, [&]<class Accumulator>() {
    // A run is reduced by the thread in whose share it begins.
    share_out(n, n, [&](std::size_t first, std::size_t last) {
      std::size_t i = first;
      while (i < last && !begins_run(labels, i)) ++i;
      if (i == last) return;
      Bucket<Accumulator> held;
      for (; i < n && (i < last || !begins_run(labels, i)); ++i) {
        if (begins_run(labels, i)) held = {};
        held.scan(array, i, values[i], inclusive);
      }
    });
  });
  return array;
}

/// A run is reduced by the thread in whose part it begins.
template <class T>
Expected reduce_by_key(Op op, const T* values, const Label* labels, std::size_t n) {
  const std::size_t parts = n > kChunk ? static_cast<std::size_t>(omp_get_max_threads()) : 1;
  std::vector<std::size_t> runs_before(parts + 1);  // each part's; at the end all runs
  for_each_part(parts, n, [&](std::size_t part, std::size_t first, std::size_t last) {
    std::size_t runs = 0;
    for (std::size_t i = first; i < last; ++i) runs += begins_run(labels, i) ? 1 : 0;
    runs_before[part + 1] = runs;
  });
  std::partial_sum(runs_before.begin(), runs_before.end(), runs_before.begin());
  const std::size_t all_runs = runs_before.back();
  Expected expected{.results = make_results<T>(op, all_runs),
                    .result_labels = make_expected({kTypeOf<Label>, all_runs}),
                    .result_count = make_expected({kTypeOf<Count>, 1})};
  *elements_of<Count>(expected.result_count) = static_cast<Count>(all_runs);
  with_accumulator<T>(op, [&]<class Accumulator>() {
    for_each_part(parts, n, [&](std::size_t part, std::size_t first, std::size_t last) {
      std::size_t i = first, run = runs_before[part];
      while (i < last && !begins_run(labels, i)) ++i;
      for (; i < last; ++run) {
        Bucket<Accumulator> held;
        elements_of<Label>(expected.result_labels)[run] = labels[i];
        do held.add(values[i++]);
        while (i < n && !begins_run(labels, i));
        held.put(expected.results, run);
      }
    });
  });
  return expected;
}

template <class L>
Expected histogram(const L* labels, std::size_t n, std::size_t buckets) {
  Expected expected{.results = make_expected({kTypeOf<Count>, buckets})};
  Count* counts = elements_of<Count>(expected.results);
  std::fill_n(counts, buckets, 0);
  if (in_parts<Count>(n, buckets)) {
    const auto parts =
        buckets_of_parts<Count>(labels, n, buckets, [](Count& count, std::size_t) { ++count; });
    for (const auto& part : parts)
      for (std::size_t bucket = 0; bucket < buckets; ++bucket) counts[bucket] += part[bucket];
    return expected;
  }
  for_each_by_label(labels, n, buckets, [&](std::size_t i) { ++counts[labels[i]]; });
  return expected;
}

/// A stable counting sort by label. Returns where the values of each label begin, and as one more
/// element where the last label's end.
template <class T>
std::vector<std::size_t> sort_values(const T* values, const Label* labels, std::size_t n,
                                     std::size_t buckets, T* sorted) {
  if (in_parts<std::size_t>(n, buckets)) {
    auto parts = buckets_of_parts<std::size_t>(labels, n, buckets,
                                               [](std::size_t& count, std::size_t) { ++count; });
    std::vector<std::size_t> begins(buckets + 1);
    std::size_t at = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      begins[bucket] = at;
      for (auto& part : parts) at += std::exchange(part[bucket], at);
    }
    begins[buckets] = at;
    for_each_part(parts.size(), n, [&](std::size_t part, std::size_t first, std::size_t last) {
      std::vector<std::size_t>& next = parts[part];
      for (std::size_t i = first; i < last; ++i) sorted[next[labels[i]]++] = values[i];
    });
    return begins;
  }
  // While values are moved, begins[label + 1] is where the next value of the label goes. It starts
  // as where the label begins and ends as where the next label begins.
  std::vector<std::size_t> begins(buckets + 2);
  for_each_by_label(labels, n, buckets,
                    [&](std::size_t i) { ++begins[labels[i] + std::size_t{2}]; });
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) begins[bucket + 2] += begins[bucket + 1];
  for_each_by_label(labels, n, buckets, [&](std::size_t i) {
    sorted[begins[labels[i] + std::size_t{1}]++] = values[i];
  });
  begins.pop_back();
  return begins;
}

/// The exact sum of each bucket's inputs, rounded once.
template <class T>
ExpectedArray exact_sums_by_label(const T* values, const Label* labels, std::size_t n,
                                  std::size_t buckets) {
  ExpectedArray array = make_expected({kTypeOf<T>, buckets});
  array.bitwise = true;
  const auto sorted = std::make_unique_for_overwrite<T[]>(n);
  const std::vector<std::size_t> begins = sort_values(values, labels, n, buckets, sorted.get());
  share_out(buckets, n + buckets, [&](std::size_t first, std::size_t last) {
    for (std::size_t bucket = first; bucket < last; ++bucket) {
      ExactSum<T> sum;
      for (std::size_t i = begins[bucket]; i < begins[bucket + 1]; ++i) sum.add(sorted[i]);
      elements_of<T>(array)[bucket] = sum.rounded();
    }
  });
  return array;
}

template <class T>
Expected scatter(const T* values, const Label* labels, std::size_t n, std::size_t buckets,
                 bool any_wins) {
  Expected expected{.results = make_expected({kTypeOf<T>, buckets})};
  T* results = elements_of<T>(expected.results);
  std::memset(results, kUntouched, buckets * sizeof(T));
  for_each_by_label(labels, n, buckets, [&](std::size_t i) { results[labels[i]] = values[i]; });
  if (any_wins) {
    ExpectedArray::Choices& choices = expected.results.choices;
    choices.values = std::make_unique_for_overwrite<std::byte[]>(n * sizeof(T));
    choices.begins =
        sort_values(values, labels, n, buckets, reinterpret_cast<T*>(choices.values.get()));
  }
  return expected;
}

template <class T>
Expected gather(const T* values, const Label* labels, std::size_t n) {
  Expected expected{.results = make_expected({kTypeOf<T>, n})};
  T* results = elements_of<T>(expected.results);
#pragma omp parallel for schedule(static) if (n > kChunk)
  for (std::size_t i = 0; i < n; ++i) results[i] = values[labels[i]];
  return expected;
}

template <class T>
Expected sort_by_label(const T* values, const Label* labels, std::size_t n, std::size_t buckets) {
  Expected expected{.results = make_expected({kTypeOf<T>, n}),
                    .result_labels = make_expected({kTypeOf<Label>, n})};
  const std::vector<std::size_t> begins =
      sort_values(values, labels, n, buckets, elements_of<T>(expected.results));
  Label* const sorted = elements_of<Label>(expected.result_labels);
  share_out(buckets, n, [&](std::size_t first, std::size_t last) {
    for (std::size_t bucket = first; bucket < last; ++bucket)
      std::fill(sorted + begins[bucket], sorted + begins[bucket + 1], static_cast<Label>(bucket));
  });
  return expected;
}

template <class T>
Expected reduce(const OperationInput& in, const T* values) {
  using Result = Combined<T>;
  const Reference one = reference_of(in.op, values, in.n);
  Expected expected{.results = make_expected({kTypeOf<Result>, 1}), .condition = one.condition()};
  std::memcpy(expected.results.elements.get(), &one.expected.bits, sizeof(Result));
  if constexpr (std::is_floating_point_v<Result>) {
    if (in.correctly_rounded) {
      const Scalar sum = correctly_rounded_sum_of(values, in.n);
      std::memcpy(expected.results.elements.get(), &sum.bits, sizeof(Result));
      expected.results.bitwise = true;
    } else {
      expected.results.magnitudes = {one.exact ? 0 : one.magnitude};
    }
  }
  return expected;
}

template <class T>
Expected expected_of_values(const OperationInput& in) {
  const T* values = reinterpret_cast<const T*>(in.values);
  const Label* labels = reinterpret_cast<const Label*>(in.labels);
  switch (in.operation) {
    case Operation::kMultireduce:
      if constexpr (std::is_floating_point_v<T>)
        if (in.correctly_rounded)
          return {.results = exact_sums_by_label(values, labels, in.n, in.buckets)};
      return {.results = fold_by_label(in.op, values, labels, in.n, in.buckets)};
    case Operation::kReduceByKey: return reduce_by_key(in.op, values, labels, in.n);
    case Operation::kScatter: return scatter(values, labels, in.n, in.buckets, in.any_wins);
    case Operation::kGather: return gather(values, labels, in.n);
    case Operation::kSort: return sort_by_label(values, labels, in.n, in.buckets);
    case Operation::kMultiscan:
      return {.results = scan_by_label(in.op, in.inclusive, values, labels, in.n, in.buckets)};
    case Operation::kScanByKey:
      return {.results = scan_runs(in.op, in.inclusive, values, labels, in.n)};
    case Operation::kReduce:
    case Operation::kHistogram: break;
  }
  throw std::logic_error("expected_of: an operation on values and labels was expected");
}

double unit_roundoff(Type type) { return type == Type::kF32 ? 0x1p-24 : 0x1p-53; }

}  // namespace

Scalar Scalar::load(Type type, const void* element) {
  Scalar scalar{.type = type};
  std::memcpy(&scalar.bits, element, size_bytes(type));
  return scalar;
}

double Scalar::as_double() const {
  return with_type(type, [&]<class T>() { return static_cast<double>(value_of<T>(*this)); });
}

std::string Scalar::to_text() const {
  return with_type(type, [&]<class T>() { return fmt::format("{}", value_of<T>(*this)); });
}

std::optional<double> Reference::condition() const {
  const double sum = std::fabs(expected.as_double());
  if (!is_float(expected.type) || magnitude == 0 || sum == 0 || !std::isfinite(magnitude))
    return std::nullopt;
  return magnitude / sum;
}

Reference reference(Type type, Op op, const std::byte* data, std::size_t n) {
  if (!defined_on(Operation::kReduce, op, type))
    throw std::logic_error("reference: operator undefined on this type");
  return with_value_or_half_type(
      type, [&]<class T>() { return reference_of<T>(op, reinterpret_cast<const T*>(data), n); });
}

Scalar correctly_rounded_sum(Type type, const std::byte* data, std::size_t n) {
  if (type == Type::kF32) return correctly_rounded_sum_of(reinterpret_cast<const float*>(data), n);
  if (type == Type::kF64) return correctly_rounded_sum_of(reinterpret_cast<const double*>(data), n);
  throw std::logic_error("correctly_rounded_sum: sums of this type are not rounded");
}

double error_bound(const Reference& reference, std::uint64_t depth) {
  if (!is_float(reference.expected.type) || reference.exact) return 0.0;
  const double u = unit_roundoff(reference.expected.type);
  const double du = static_cast<double>(depth) * u;
  const double growth = du <= 0.5 ? du / (1 - du) : std::expm1(du);
  return growth * reference.magnitude + u * std::fabs(reference.expected.as_double());
}

Comparison compare(const Reference& reference, const Scalar& actual, double bound_abs) {
  const Type type = reference.expected.type;
  Comparison result;
  if (!is_float(type)) {
    result.passed = actual.bits == reference.expected.bits;
    result.error_abs = std::fabs(actual.as_double() - reference.expected.as_double());
    if (!result.passed && result.error_abs == 0) result.error_abs = 1;
  } else {
    const double expected = reference.expected.as_double(), value = actual.as_double();
    // Infinities agree only with themselves; NaN never agrees.
    result.error_abs = expected == value ? 0 : std::fabs(value - expected);
    result.passed = result.error_abs <= bound_abs;
    if (std::isfinite(expected)) {
      const double ulp =
          type == Type::kF32
              ? std::ldexp(1.0,
                           std::max(std::ilogb(expected == 0 ? 0x1p-126 : expected), -126) - 23)
              : std::ldexp(1.0,
                           std::max(std::ilogb(expected == 0 ? 0x1p-1022 : expected), -1022) - 52);
      result.error_ulp = result.error_abs / ulp;
    }
  }
  const double expected = std::fabs(reference.expected.as_double());
  if (expected != 0 && std::isfinite(expected)) result.error_relative = result.error_abs / expected;
  return result;
}

Scalar ExpectedArray::at(std::size_t i) const {
  return Scalar::load(extent.type, elements.get() + i * size_bytes(extent.type));
}

std::size_t ExpectedArray::choice_count(std::size_t i) const {
  return choices.begins.empty() ? 0 : choices.begins[i + 1] - choices.begins[i];
}

bool ExpectedArray::is_choice(std::size_t i, const Scalar& value) const {
  if (choice_count(i) == 0) return false;
  return with_type(extent.type, [&]<class T>() {
    const T* const all = reinterpret_cast<const T*>(choices.values.get());
    const T* const end = all + choices.begins[i + 1];
    return std::find(all + choices.begins[i], end, value_of<T>(value)) != end;
  });
}

std::size_t ExpectedArray::held_bytes() const {
  const std::size_t choice_bytes =
      choices.begins.empty() ? 0 : choices.begins.back() * size_bytes(extent.type);
  return extent.bytes() + magnitudes.size() * sizeof(double) + terms.size() * sizeof(Count) +
         choice_bytes + choices.begins.size() * sizeof(std::size_t);
}

Reference ExpectedArray::reference_at(std::size_t i) const {
  Reference reference{.expected = at(i)};
  if (!magnitudes.empty()) {
    reference.magnitude = magnitudes[i];
    reference.exact = magnitudes[i] == 0;
  }
  return reference;
}

double ExpectedArray::bound_at(std::size_t i, std::uint64_t depth) const {
  return error_bound(reference_at(i),
                     terms.empty() ? depth : std::min<std::uint64_t>(depth, terms[i]));
}

std::size_t Expected::bytes() const {
  return results.extent.bytes() + result_labels.extent.bytes() + result_count.extent.bytes();
}

std::size_t Expected::held_bytes() const {
  return results.held_bytes() + result_labels.held_bytes() + result_count.held_bytes();
}

bool Expected::bounds_hide_faults(std::uint64_t depth, std::size_t n) const {
  for (std::size_t i = 0; i < results.magnitudes.size(); ++i) {
    const double bound = results.bound_at(i, depth);
    const auto terms = static_cast<double>(results.terms.empty() ? n : results.terms[i]);
    if (bound > 0 &&
        (bound >= std::fabs(results.at(i).as_double()) || bound * terms >= results.magnitudes[i]))
      return true;
  }
  return false;
}

Expected expected_of(const OperationInput& input) {
  if (!defined_on(input.operation, input.op, input.type))
    throw std::logic_error("expected_of: operator undefined on this type");
  if (input.operation == Operation::kHistogram)
    return with_label_type(input.type, [&]<class L>() {
      return histogram(reinterpret_cast<const L*>(input.labels), input.n, input.buckets);
    });
  if (input.operation == Operation::kReduce)
    return with_value_or_half_type(input.type, [&]<class T>() {
      return reduce(input, reinterpret_cast<const T*>(input.values));
    });
  return with_value_type(input.type, [&]<class T>() { return expected_of_values<T>(input); });
}

Expected expected_of_twin(const OperationInput& input) {
  Expected expected = expected_of(input);
  expected.results.magnitudes.clear();
  expected.results.terms.clear();
  return expected;
}

std::size_t verification_bytes(Operation operation, const Arrays& arrays, std::size_t buckets,
                               bool any_wins, bool correctly_rounded) {
  const bool exact_by_label = correctly_rounded && has_labels(operation);
  std::size_t bytes = 2 * arrays.output_bytes();
  const bool by_runs = operation == Operation::kReduceByKey || operation == Operation::kScanByKey;
  if (has_labels(operation) && operation != Operation::kGather && !by_runs)
    bytes += std::min(arrays.labels.count, kWindow) * sizeof(std::uint32_t);
  if (has_operator(operation) && has_labels(operation) && !exact_by_label) {
    const std::size_t held = by_runs                              ? 0
                             : operation == Operation::kMultiscan ? buckets
                                                                  : arrays.results.count;
    bytes += held * sizeof(Bucket<FloatSum<float>>) +
             arrays.results.count * (sizeof(double) + sizeof(Count));
  }
  if (any_wins || exact_by_label) bytes += arrays.values.bytes();
  if (operation == Operation::kSort || any_wins || exact_by_label)
    bytes += buckets * sizeof(std::size_t);
  return bytes;
}

ArrayComparison compare(const ExpectedArray& expected, const std::byte* actual,
                        std::uint64_t depth) {
  const Type type = expected.extent.type;
  const std::size_t element_bytes = size_bytes(type), n = expected.extent.count;
  const auto compare_one = [&](std::size_t i) {
    Reference reference = expected.reference_at(i);
    const Scalar value = Scalar::load(type, actual + i * element_bytes);
    if (expected.is_choice(i, value)) reference.expected = value;
    ArrayComparison one{.index = i,
                        .expected = reference.expected,
                        .actual = value,
                        .bound_abs = expected.bound_at(i, depth)};
    one.comparison = compare(reference, one.actual, one.bound_abs);
    if (expected.bitwise) one.comparison.passed = value.bits == reference.expected.bits;
    one.mismatches = one.comparison.passed ? 0 : 1;
    return one;
  };
  // The error as a share of the bound: beyond 1 the element fails.
  const auto share_of_bound = [](const ArrayComparison& one) {
    return one.bound_abs > 0 ? one.comparison.error_abs / one.bound_abs : 0;
  };
  const auto take = [&](ArrayComparison& total, const ArrayComparison& next) {
    const std::size_t mismatches = total.mismatches + next.mismatches;
    const bool worse = next.mismatches > 0
                           ? total.mismatches == 0
                           : total.mismatches == 0 && share_of_bound(next) > share_of_bound(total);
    if (worse) total = next;
    total.mismatches = mismatches;
  };
  if (n == 0) return {.comparison = {.passed = true}};
  const auto parts = in_chunks<ArrayComparison>(n, [&](std::size_t first, std::size_t last) {
    ArrayComparison total = compare_one(first);
    const auto are_alike = [&](std::size_t from, std::size_t to) {
      return std::memcmp(actual + from * element_bytes,
                         expected.elements.get() + from * element_bytes,
                         (to - from) * element_bytes) == 0;
    };
    if (!is_float(type) && are_alike(first, last)) return total;
    // Bits alike are no error, but NaN agrees with nothing.
    for (std::size_t i = first + 1; i < last; ++i)
      if (!are_alike(i, i + 1) || (is_float(type) && std::isnan(expected.at(i).as_double())))
        take(total, compare_one(i));
    return total;
  });
  ArrayComparison total = parts.front();
  for (std::size_t c = 1; c < parts.size(); ++c) take(total, parts[c]);
  return total;
}

}  // namespace reduce_bench
