//! Reading a safetensors file: every tensor is asked for by name and shape.

use std::path::Path;

use half::f16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::ModelError;

/// The tensors of one file.
pub(crate) struct Tensors<'a> {
    file: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Tensors<'a> {
    pub(crate) fn parse(file: &'a Path, bytes: &'a [u8]) -> Result<Self, ModelError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| ModelError::Malformed {
            file: file.to_owned(),
            format: "safetensors",
            reason: error.to_string(),
        })?;
        Ok(Self { file, tensors })
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// A tensor of exactly this shape.
    pub(crate) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let shape: Vec<_> = shape.iter().copied().map(Some).collect();
        self.numbers(name, &shape, f16::to_f32, |x| x)
    }

    /// A table of one row or more, in half precision.
    pub(crate) fn table(&self, name: &str, columns: usize) -> Result<Vec<f16>, ModelError> {
        self.numbers(name, &[None, Some(columns)], |x| x, f16::from_f32)
    }

    /// Fails unless a tensor has exactly this shape.
    #[cfg(feature = "transformer")]
    pub(crate) fn expect(&self, name: &str, shape: &[usize]) -> Result<(), ModelError> {
        let shape: Vec<_> = shape.iter().copied().map(Some).collect();
        self.view(name, &shape).map(drop)
    }

    /// Keys that ascend, and the number of the row each stands for, below `rows`.
    pub(crate) fn keys(
        &self,
        keys: &str,
        numbers: &str,
        rows: usize,
    ) -> Result<(Vec<u64>, Vec<u32>), ModelError> {
        let view = self.view(keys, &[None])?;
        self.expect_type(keys, &view, Dtype::I64, "I64")?;
        let (chunks, _) = view.data().as_chunks::<8>();
        let found: Vec<_> = chunks
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes))
            .collect();
        let view = self.view(numbers, &[Some(found.len())])?;
        self.expect_type(numbers, &view, Dtype::I32, "I32")?;
        let (chunks, _) = view.data().as_chunks::<4>();
        let at: Vec<_> = chunks
            .iter()
            .map(|bytes| u32::from_le_bytes(*bytes))
            .collect();
        if !found.is_sorted() || at.iter().any(|row| *row as usize >= rows) {
            return Err(ModelError::Malformed {
                file: self.file.to_owned(),
                format: "word vector",
                reason: format!("{keys:?} must ascend and {numbers:?} stay below {rows}"),
            });
        }
        Ok((found, at))
    }

    fn numbers<T: Copy>(
        &self,
        name: &str,
        shape: &[Option<usize>],
        from_half: impl Fn(f16) -> T,
        from_float: impl Fn(f32) -> T,
    ) -> Result<Vec<T>, ModelError> {
        let view = self.view(name, shape)?;
        let mut finite = true;
        let numbers = match view.dtype() {
            Dtype::F16 => {
                let (chunks, _) = view.data().as_chunks::<2>();
                let halves = chunks.iter().map(|bytes| f16::from_le_bytes(*bytes));
                halves
                    .inspect(|x| finite &= x.is_finite())
                    .map(from_half)
                    .collect()
            }
            Dtype::F32 => {
                let (chunks, _) = view.data().as_chunks::<4>();
                let floats = chunks.iter().map(|bytes| f32::from_le_bytes(*bytes));
                floats
                    .inspect(|x| finite &= x.is_finite())
                    .map(from_float)
                    .collect()
            }
            other => return Err(self.type_error(name, "F16 or F32", other)),
        };
        if !finite {
            return Err(ModelError::NotFinite {
                file: self.file.to_owned(),
                tensor: name.to_owned(),
            });
        }
        Ok(numbers)
    }

    fn view(&self, name: &str, shape: &[Option<usize>]) -> Result<TensorView<'_>, ModelError> {
        let view = self
            .tensors
            .tensor(name)
            .map_err(|_| ModelError::MissingTensor {
                file: self.file.to_owned(),
                tensor: name.to_owned(),
            })?;
        let fits = |(want, got): (&Option<usize>, &usize)| match want {
            Some(want) => want == got,
            None => *got > 0,
        };
        if view.shape().len() != shape.len() || !shape.iter().zip(view.shape()).all(fits) {
            let side = |side: &Option<usize>| side.map_or("n".into(), |n| n.to_string());
            let expected: Vec<String> = shape.iter().map(side).collect();
            return Err(ModelError::Shape {
                file: self.file.to_owned(),
                tensor: name.to_owned(),
                expected: format!("[{}]", expected.join(", ")),
                found: view.shape().to_vec(),
            });
        }
        Ok(view)
    }

    fn expect_type(
        &self,
        name: &str,
        view: &TensorView<'_>,
        dtype: Dtype,
        expected: &'static str,
    ) -> Result<(), ModelError> {
        if view.dtype() == dtype {
            return Ok(());
        }
        Err(self.type_error(name, expected, view.dtype()))
    }

    fn type_error(&self, name: &str, expected: &'static str, found: Dtype) -> ModelError {
        ModelError::Type {
            file: self.file.to_owned(),
            tensor: name.to_owned(),
            expected,
            found: format!("{found:?}"),
        }
    }
}
