//! R vectors to slices and numbers, and results back to R vectors.

use std::str::FromStr;

use extendr_api::prelude::*;
use ndarray::{Array2, ArrayView2, ShapeBuilder};
use sdcrisk_core::random::Seed;
use sdcrisk_core::{Error, Monitor, Probability, Result};

use crate::guard::bad_call;
use crate::watch::{alone, watched};

/// A named list of R: the settings of a method.
pub struct Named {
    values: List,
    /// Name of the list in R.
    name: &'static str,
}

impl Named {
    pub fn new(x: &Robj, name: &'static str) -> Result<Self> {
        list(x, name).map(|values| Self { values, name })
    }

    /// An element that must be there; NULL is something.
    pub fn get(&self, element: &str) -> Result<Robj> {
        self.find(element)
            .ok_or_else(|| bad_call(&format!("{}${element}", self.name)))
    }

    /// An element that may be NULL, or not there.
    pub fn optional(&self, element: &str) -> Result<Option<Robj>> {
        Ok(self.find(element).filter(|x| !x.is_null()))
    }

    /// The element of this name. R's own `$` would parse and evaluate code for every
    /// one, which took longer than coding a thousand records.
    fn find(&self, element: &str) -> Option<Robj> {
        let at = self.values.names()?.position(|name| name == element)?;
        self.values.elt(at).ok()
    }

    /// An element that is a named list itself; `name` is what R calls it.
    pub fn named(&self, name: &'static str) -> Result<Named> {
        Named::new(&self.get(name)?, name)
    }

    pub fn list(&self, element: &str) -> Result<List> {
        list(&self.get(element)?, element)
    }

    pub fn text(&self, element: &str) -> Result<String> {
        text(&self.get(element)?, element).map(str::to_owned)
    }

    /// One of the words that the core has for a choice.
    pub fn choice<T: FromStr<Err = Error>>(&self, element: &str) -> Result<T> {
        self.text(element)?.parse()
    }

    pub fn flag(&self, element: &str) -> Result<bool> {
        self.get(element)?
            .as_bool()
            .ok_or_else(|| bad_call(element))
    }

    pub fn count(&self, element: &str) -> Result<usize> {
        count(&self.get(element)?, element)
    }

    pub fn number(&self, element: &str) -> Result<f64> {
        match doubles(&self.get(element)?, element)? {
            [x] => Ok(*x),
            _ => Err(bad_call(element)),
        }
    }

    pub fn optional_number(&self, element: &str) -> Result<Option<f64>> {
        match self.optional(element)? {
            None => Ok(None),
            Some(_) => self.number(element).map(Some),
        }
    }

    pub fn doubles(&self, element: &str) -> Result<Vec<f64>> {
        doubles(&self.get(element)?, element).map(<[f64]>::to_vec)
    }

    /// Numbers, one per record as a rule, that may be NULL.
    pub fn optional_doubles(&self, element: &str) -> Result<Option<Vec<f64>>> {
        match self.optional(element)? {
            None => Ok(None),
            Some(values) => doubles(&values, element).map(|x| Some(x.to_vec())),
        }
    }

    pub fn flags(&self, element: &str) -> Result<Vec<bool>> {
        flags(&self.get(element)?, element)
    }

    /// Vectors of R's positions, as indices.
    pub fn index_lists(&self, element: &str) -> Result<Vec<Vec<usize>>> {
        (self.list(element)?.values())
            .map(|positions| indices(&positions, element))
            .collect()
    }

    pub fn probabilities(&self, element: &str) -> Result<Vec<Probability>> {
        probabilities(&self.get(element)?, element)
    }

    pub fn seed(&self, element: &str) -> Result<Seed> {
        seed(&self.get(element)?, element)
    }

    pub fn indices(&self, element: &str) -> Result<Vec<usize>> {
        indices(&self.get(element)?, element)
    }
}

/// Steps that take less than a millisecond or two.
const BRIEF: usize = 1 << 15;

/// Conditions of a run: number of threads, and the listener to its progress.
pub struct Run {
    threads: usize,
    tick: Robj,
}

impl Run {
    pub fn new(x: &Robj) -> Result<Self> {
        let run = Named::new(x, "run")?;
        Ok(Self {
            threads: run.count("threads")?,
            tick: run.optional("tick")?.unwrap_or_else(|| r!(NULL)),
        })
    }

    /// Runs `work`, which takes about `steps` steps of some nanoseconds: few of them on
    /// this thread alone, since threads and a watch would take longer than the work.
    pub fn brief<T: Send>(
        &self,
        steps: usize,
        work: impl FnOnce(&Monitor) -> Result<T> + Send,
    ) -> Result<T> {
        if steps <= BRIEF {
            alone(work)
        } else {
            self.watched(work)
        }
    }

    /// Runs `work` beside a watching main thread.
    pub fn watched<T: Send>(&self, work: impl FnOnce(&Monitor) -> Result<T> + Send) -> Result<T> {
        watched(self.threads, &self.tick, work)
    }
}

pub fn integers<'a>(x: &'a Robj, name: &str) -> Result<&'a [i32]> {
    x.as_integer_slice().ok_or_else(|| bad_call(name))
}

pub fn doubles<'a>(x: &'a Robj, name: &str) -> Result<&'a [f64]> {
    x.as_real_slice().ok_or_else(|| bad_call(name))
}

/// A list of vectors of doubles.
pub fn double_vectors(x: &Robj, name: &str) -> Result<Vec<Vec<f64>>> {
    list(x, name)?
        .values()
        .map(|values| doubles(&values, name).map(<[f64]>::to_vec))
        .collect()
}

/// A square matrix; symmetric ones need not say their dimensions.
pub fn square(x: &Robj, name: &str) -> Result<Array2<f64>> {
    let values = doubles(x, name)?;
    let d = values.len().isqrt();
    let matrix = ArrayView2::from_shape((d, d).f(), values).map_err(|_| bad_call(name))?;
    Ok(matrix.to_owned())
}

/// A matrix of doubles or integers.
pub fn matrix(x: &Robj, name: &str) -> Result<Array2<f64>> {
    if let Ok(counts) = ArrayView2::<i32>::try_from(x) {
        return Ok(counts.mapv(f64::from));
    }
    let numbers = ArrayView2::<f64>::try_from(x).map_err(|_| bad_call(name))?;
    Ok(numbers.to_owned())
}

/// A matrix for R.
pub fn matrix_to_r<A>(matrix: &Array2<A>) -> Result<Robj>
where
    for<'a> &'a Array2<A>: TryInto<Robj>,
{
    let failed = |_| Error::TooLarge("A matrix has more rows than R can hold.".into());
    matrix.try_into().map_err(failed)
}

pub fn flags(x: &Robj, name: &str) -> Result<Vec<bool>> {
    let flags = x.as_logical_slice().ok_or_else(|| bad_call(name))?;
    Ok(flags.iter().map(|flag| flag.is_true()).collect())
}

pub fn text<'a>(x: &'a Robj, name: &str) -> Result<&'a str> {
    x.as_str().ok_or_else(|| bad_call(name))
}

/// Texts in UTF-8.
pub fn texts(x: &Robj, name: &str) -> Result<Vec<String>> {
    let texts = x.as_str_iter().ok_or_else(|| bad_call(name))?;
    Ok(texts.map(str::to_owned).collect())
}

pub fn list(x: &Robj, name: &str) -> Result<List> {
    x.as_list().ok_or_else(|| bad_call(name))
}

pub fn count(x: &Robj, name: &str) -> Result<usize> {
    match integers(x, name)? {
        [n] if *n >= 0 => Ok(*n as usize),
        _ => Err(bad_call(name)),
    }
}

pub fn probabilities(x: &Robj, name: &str) -> Result<Vec<Probability>> {
    doubles(x, name)?
        .iter()
        .map(|&value| Probability::new(value, name))
        .collect()
}

/// Eight draws of R's generator as the seed of all streams.
pub fn seed(x: &Robj, name: &str) -> Result<Seed> {
    let draws: Vec<u32> = doubles(x, name)?
        .iter()
        .filter(|&&d| (0.0..4_294_967_296.0).contains(&d))
        .map(|&d| d as u32)
        .collect();
    <[u32; 8]>::try_from(draws)
        .map(Seed::from_draws)
        .map_err(|_| bad_call(name))
}

/// Whole numbers from 0.
pub fn whole(x: &Robj, name: &str) -> Result<Vec<u32>> {
    integers(x, name)?
        .iter()
        .map(|&i| u32::try_from(i).map_err(|_| bad_call(name)))
        .collect()
}

/// R's positions, counted from 1, as indices.
pub fn indices(x: &Robj, name: &str) -> Result<Vec<usize>> {
    integers(x, name)?
        .iter()
        .map(|&i| usize::try_from(i - 1).map_err(|_| bad_call(name)))
        .collect()
}

/// Indices as R's positions.
pub fn positions(indices: &[u32]) -> Robj {
    // A data frame has at most 2^31 - 1 rows, so every position fits.
    indices.iter().map(|&i| i as i32 + 1).collect_robj()
}

/// A data frame of `n` rows for R.
pub fn frame(n: usize, columns: List) -> Result<Robj> {
    let mut table: Robj = columns.into();
    // R's short form of the numbers from 1 to n.
    let rows: Integers = match n {
        0 => std::iter::empty::<Rint>().collect(),
        n => [Rint::na(), Rint::from(-(n as i32))].into_iter().collect(),
    };
    table
        .set_attrib(class_symbol(), "data.frame")
        .and_then(|table| table.set_attrib(row_names_symbol(), rows))
        .map_err(|_| bad_call("frame"))?;
    Ok(table)
}

/// Counts as R integers; none exceeds the number of rows.
pub fn counts(counts: impl Iterator<Item = u32>) -> Robj {
    counts.map(|c| c as i32).collect_robj()
}

/// Counts of records as R integers, where all of them fit.
pub fn whole_numbers(counts: impl Iterator<Item = u64>) -> Robj {
    let counts: Vec<u64> = counts.collect();
    if counts.iter().all(|&c| c <= i32::MAX as u64) {
        counts.iter().map(|&c| c as i32).collect_robj()
    } else {
        counts.iter().map(|&c| c as f64).collect_robj()
    }
}

/// Numbers, not determined ones as NA.
pub fn optional(numbers: impl Iterator<Item = Option<f64>>) -> Robj {
    numbers
        .map(|x| x.map_or(Rfloat::na(), Rfloat::from))
        .collect::<Doubles>()
        .into()
}
