#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "ir/tensor.h"

namespace fusescope {

/// Arrays by name, as they are called in the archive without ".npy".
using NpzArrays = std::map<std::string, Tensor>;

/// Reads a .npz (stored or deflated) of .npy arrays, versions 1 to 3. Types: b1, i1…i8, u1…u8, f2, f4, f8, c8, c16,
/// V2 as bf16, and V1 as u1: the codes of what ml_dtypes has in a byte (fromCodes() in codes.h). Fortran order becomes
/// row-major. Big-endian, pickled and structured arrays, bad headers, absurd extents and truncated files are errors
/// that name file and array.
Result<NpzArrays> readNpz(const std::filesystem::path& path);
/// Writes an uncompressed .npz, atomically, out of the arrays where they lie. bf16 is written as V2, as ml_dtypes does;
/// what numpy has no type for as codes of a byte each (u1).
Status writeNpz(const std::filesystem::path& path, const NpzArrays& arrays);

/// One array of the .npy format. `file` and `array` only locate errors.
Result<Tensor> parseNpy(std::span<const std::byte> bytes, const std::string& file, const std::string& array);
/// A .npy file: `head`, then the elements of `elements`, as they lie.
struct NpyPieces {
  std::string head;
  Tensor elements;
};
/// The inverse. Errors: types that .npy cannot say, text that is not UTF-8.
Result<NpyPieces> npyPieces(const Tensor& tensor, const std::string& array);
Result<std::string> npyBytes(const Tensor& tensor, const std::string& array);

/// The arrays that are inputs: those called `in:NAME`, or if there are none, every array without the prefix `out:`.
NpzArrays inputsFrom(const NpzArrays& arrays);
/// Likewise the outputs: those called `out:NAME`, or every array without the prefix `in:`.
NpzArrays outputsFrom(const NpzArrays& arrays);

}  // namespace fusescope
